"""Which settings two printed cells give different values."""

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.aspects import different_settings


def cell(**settings):
    printed = "; ".join(f"'{key}': '{value}'" for key, value in settings.items())
    return f"{{{printed}}}"


def config(name="Config", **fields):
    return f"{name}({';'.join(f'{key}={value}' for key, value in fields.items())})"


@for_all(
    ("before", "after", "told"),
    [
        (cell(dim="1"), cell(dim="2"), "dim"),
        (cell(dim="1"), cell(dim="1"), ""),
        (cell(dim="1", axis="1"), cell(dim="1", axis="2"), "axis"),
        (cell(dim="1"), "", ""),
        ("", cell(dim="1"), ""),
        (cell(dim="1"), cell(axis="2"), ""),  # keys of one side only depend on the version
        (cell(a="1", b="1", c="1"), cell(a="2", b="2", c="2"), "a, b"),
        (cell(buffer_address="1"), cell(buffer_address="2"), ""),
        (cell(c=config(x=1, y=1)), cell(c=config(x=2, y=1)), "c.x"),
        (cell(c=config(x=1, y=1)), cell(c=config(x=1, z=1)), "c"),  # no field that both print differs
        (cell(c=config(x=1)), cell(c=config("Other", x=2)), "c"),
        (cell(c=config(x=1)), cell(c="none"), "c"),
        (cell(c="none"), cell(c=config(x=1)), "c"),
        (cell(c=config(x=1, mem_address=1)), cell(c=config(x=2, mem_address=2)), "c.x"),
        (
            cell(compute_kernel_config=config(a=1)),
            cell(compute_kernel_config=config(a=2)),
            "compute_kernel_config.a",
        ),
        (
            cell(compute_kernel_config=config(math_fidelity=1)),
            cell(compute_kernel_config=config(math_fidelity=2)),
            "",
        ),
    ],
)
def test_settings_that_both_print_with_different_values_are_told(before, after, told):
    assert different_settings([(before, after)]) == [told]


def test_five_hundred_different_pairs_are_read():
    unread = [("x", "x"), ("", cell(dim=1)), (cell(dim=1), "")]
    told = different_settings([*unread, *((cell(dim=n), cell(dim=n + 1)) for n in range(501)), *unread])
    assert told == [*[""] * 3, *["dim"] * 500, "settings", *[""] * 3]
