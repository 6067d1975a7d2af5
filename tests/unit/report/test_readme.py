"""The README's excerpt of the study equals the report."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_readme_shows_the_report():
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tools" / "readme.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    readme = (ROOT / "README.md").read_text()
    report = (ROOT / tool.REPORT / "report.md").read_text()
    assert tool.updated(readme, report) == readme, "run 'make readme'"
    assert (ROOT / tool.REPORT / f"{tool.FIGURE}.svg").exists()
    assert readme.count(f"{tool.FIGURE}.svg)") == 1
    best = tool.rows_of(report, "The best target measure")
    assert len(best) > 5
    for row in best:
        assert f"| {row['Best here of others']}: {row['Score']} |" in readme
    for condition in ("Epochs of networks: 20, ", "Test tasks: 20,000", "Narrower ranges"):
        assert f"\n- {condition}" in readme
