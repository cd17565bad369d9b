"""One flight of promise I3 with noise of a kind; `make campaigns` puts tests in reach."""

import freefloat as ff


def run(inputs, seed):
    from identification.output_error.test_statistics import CASES, NOISES, flight_plan

    name = "planar-capture"
    model, plan = ff.load_model(name), flight_plan(name)
    wanted = ff.Parameters(model).free(*CASES[name])
    flight = ff.simulate(model, plan, seed=seed, step=1e-2)
    flight = NOISES[inputs["noise"]](model, flight, seed)
    fit = ff.identify(model, wanted, flight, method="output_error", plan=plan, assess=False)
    bound = ff.cramer_rao(model, wanted, plan)
    estimates = []
    for p in wanted.free_ones:
        e = fit[p.name]
        low, high = e.interval95
        estimates.append({"name": p.name, "unit": p.unit, "true": p.value, "prior": p.value,
                          "value": e.value, "std": e.std, "lower": low, "upper": high,
                          "bound": bound[p.name]})  # fmt: skip
    return {"estimates": estimates, "method": fit.method}
