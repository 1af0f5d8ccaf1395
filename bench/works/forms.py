"""W1g: the ten steps of W1 in the graph form, beside the steps form, in turns on one node."""

from bench import documents
from bench.figures import median
from bench.stage import STORES, Stage
from bench.works.steps import STEPS

LEAST_RATIO = 0.9


def measure(stage: Stage) -> None:
    for store, name in STORES.items():
        node = stage.node(stage.place(store))
        written = {"steps": documents.chain(STEPS), "graph": documents.graph_chain(STEPS)}
        workflows = {form: node.ask("apply", document=text) for form, text in written.items()}
        rates: dict[str, list[float]] = {form: [] for form in written}
        costs: dict[str, list[float]] = {form: [] for form in written}
        for round_ in range(stage.sizes.rounds + 1):
            for form, workflow in workflows.items():
                facts = node.ask(
                    "burst", workflow=workflow, width=stage.sizes.widths[0], seconds=stage.sizes.seconds / 2
                )
                if round_:  # the first warms up
                    rates[form].append(STEPS * facts["done"] / facts["seconds"])
                    costs[form].append(facts["cpu"] / facts["done"] / STEPS * 1e6)
        rate = {form: median(every) for form, every in rates.items()}
        cost = {form: median(every) for form, every in costs.items()}
        ratio = cost["steps"] / cost["graph"]
        stage.results.figure("W1g", name, rates=rates, costs=costs)
        stage.say(
            "W1g", f"{name}: {rate['graph']:,.0f} steps/s in the graph form, {rate['steps']:,.0f} in the steps form"
        )
        stage.results.line(
            "W1g", f"{name}: ten steps in the graph form, steps/s (CPU)",
            f"{rate['graph']:,.0f} ({cost['graph']:.0f} us)",
            other=f"{rate['steps']:,.0f} ({cost['steps']:.0f} us)", ratio=f"{ratio:.2f}x",
            target=f"≥ {LEAST_RATIO:g}x", met=ratio >= LEAST_RATIO,
        )  # fmt: skip
        stage.leave(node)
