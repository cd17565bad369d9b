"""One right world, drawn by the seed; `make campaigns` has the folder of tests in reach."""


def run(inputs, seed):
    from worlds.right import right_outcomes

    (o,) = right_outcomes(1, first=10_000 + seed % 10**6)
    return {"grade": o.grade, "method": o.method, "is_trusted": o.grade == "trusted",
            "is_wrong": o.is_wrong, "covered": o.covered, "seen": o.seen}  # fmt: skip
