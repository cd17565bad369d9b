"""The store: valid at every instant, and the same bytes in whatever order rows come."""

from __future__ import annotations

import os
import random

import pytest
from campaign_samples import carry_out, fingerprint, flight_campaign, function_campaign

from freefloat.campaign import run_store
from freefloat.campaign.run_row import RunCost, RunResult, RunRow, read_result, write_result
from freefloat.campaign.run_setup import request_of
from freefloat.campaign.run_store import RunStore
from freefloat.errors import CampaignError, FreefloatError


def results(campaign, numbers):
    for run in numbers:
        row = RunRow(**vars(request_of(campaign, run)), measures={"x": run / 7.0})
        yield RunResult(row, RunCost(wall=1.0, cpu=0.5, memory=1e6, host="here"))


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(run_store, "CHUNK", 10)
    from freefloat.campaign import conduct

    monkeypatch.setattr(conduct, "CHUNK", 10)


@pytest.mark.promise("C6")
def test_the_order_of_arrival_leaves_no_trace(tmp_path, small_chunks):
    campaign = function_campaign(tmp_path, runs=35)
    prints = []
    for seed in range(3):
        order = list(range(35))
        random.Random(seed).shuffle(order)
        with RunStore.open_to_write(tmp_path / str(seed), campaign) as store:
            for result in results(campaign, order):
                store.add(result)
                if seed == 1:
                    store.compact()
            store.compact()
        prints.append(fingerprint(tmp_path / str(seed)))
        assert sorted(RunStore(tmp_path / str(seed)).finished_runs()) == list(range(35))
    assert len(set(prints)) == 1


def test_rows_come_back_as_they_were(tmp_path):
    campaign = flight_campaign(tmp_path, runs=3)
    carry_out(campaign, tmp_path / "out")
    store = RunStore(tmp_path / "out")
    found = store.result(1)
    # as text: NaN equals NaN there
    assert write_result(read_result(write_result(found))) == write_result(found)
    assert '"bound":null' not in write_result(found)
    assert [t.n_runs for t in store.tables()] == [3]
    assert len(found.row.estimates) == 2 and found.row.estimates[0].bound > 0.0
    assert store.result(7) is None


def test_a_campaign_may_grow(tmp_path, small_chunks):
    short, long = (function_campaign(tmp_path, runs=n) for n in (13, 27))
    carry_out(short, tmp_path / "a")
    assert carry_out(long, tmp_path / "a").n_now == 14
    carry_out(long, tmp_path / "b")
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")


def test_two_campaigns_do_not_share_a_folder(tmp_path):
    carry_out(function_campaign(tmp_path, runs=1), tmp_path / "out")
    other = function_campaign(tmp_path, runs=1, more="seed = 3\n")
    with pytest.raises(CampaignError) as raised:
        RunStore.open_to_write(tmp_path / "out", other)
    assert raised.value.codes == ("file.conflict",)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "diary.txt").write_text("mine")
    with pytest.raises(CampaignError):
        RunStore.open_to_write(tmp_path / "full", other)
    assert [p.name for p in (tmp_path / "full").iterdir() if p.name != "lock"] == ["diary.txt"]


def test_one_process_writes_at_a_time(tmp_path):
    campaign = function_campaign(tmp_path, runs=1)
    with RunStore.open_to_write(tmp_path / "out", campaign):
        with pytest.raises(CampaignError) as raised:
            RunStore.open_to_write(tmp_path / "out", campaign)
        assert raised.value.codes == ("file.conflict",)
        assert RunStore(tmp_path / "out").status().is_being_written
    assert not RunStore(tmp_path / "out").status().is_being_written


@pytest.mark.promise("C2")
def test_what_is_no_row_is_carried_out_again(tmp_path):
    campaign = function_campaign(tmp_path, runs=4)
    with RunStore.open_to_write(tmp_path / "out", campaign) as store:
        for result in results(campaign, [0, 1]):
            store.add(result)
    torn = tmp_path / "out" / "open" / "00000" / "00000001.json"
    torn.write_text(torn.read_text()[:50])
    state = carry_out(campaign, tmp_path / "out")
    assert state.n_before == 1 and state.n_now == 3 and len(state.notes) == 1
    assert RunStore(tmp_path / "out").status().n_done == 4


@pytest.mark.promise("C2")
def test_a_compaction_that_dies_loses_nothing(tmp_path, monkeypatch):
    campaign = function_campaign(tmp_path, runs=5)
    with RunStore.open_to_write(tmp_path / "out", campaign) as store:
        for result in results(campaign, range(5)):
            store.add(result)
        real, count = os.replace, [0]

        def die(*arguments, **named):
            count[0] += 1
            if count[0] == 2:  # between two tables of one chunk
                raise KeyboardInterrupt
            real(*arguments, **named)

        monkeypatch.setattr(os, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            store.compact()
        monkeypatch.undo()
        assert len(store.finished_runs()) == 5
        store.compact()
    whole = RunStore(tmp_path / "out")
    assert whole.status().n_done == 5 and whole.result(3).row.measures["x"] == 3 / 7.0


@pytest.mark.promise("C3")
@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_store_is_refused(tmp_path):
    campaign = function_campaign(tmp_path, runs=2)
    carry_out(campaign, tmp_path / "out")
    (tmp_path / "out").chmod(0o555)
    with pytest.raises(FreefloatError) as raised:
        RunStore.open_to_write(tmp_path / "out" / "deeper", campaign)
    assert "file.unwritable" in raised.value.codes


def test_a_damaged_table_says_which_and_what_to_do(tmp_path):
    campaign = function_campaign(tmp_path, runs=2)
    carry_out(campaign, tmp_path / "out")
    place = tmp_path / "out" / "estimates" / "00000.parquet"
    place.write_bytes(place.read_bytes()[:100])
    with pytest.raises(CampaignError) as raised:
        list(RunStore(tmp_path / "out").tables())
    assert str(place) in raised.value.faults[0].place and raised.value.faults[0].remedy


def test_a_folder_without_a_campaign_says_so(tmp_path):
    with pytest.raises(CampaignError) as raised:
        RunStore(tmp_path)
    assert raised.value.codes == ("file.unreadable",)
