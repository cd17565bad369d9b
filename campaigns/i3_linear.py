"""One flight of promise I3 by a linear family; `make campaigns` puts tests in reach."""

from functools import cache


@cache
def study_of(family, unequal):
    from identification.test_coverage import study

    return study(family, unequal=unequal)


def run(inputs, seed):
    s = study_of(inputs["family"], inputs["unequal"])
    z = s.z(seed)
    estimates = [
        {"name": f"unknown {k + 1}", "unit": "std", "true": 0.0, "prior": 0.0, "value": float(one),
         "std": 1.0, "lower": float(one) - 1.959964, "upper": float(one) + 1.959964}
        for k, one in enumerate(z)
    ]  # fmt: skip
    return {"estimates": estimates, "method": inputs["family"]}
