"""Formulas of the HTML pages as MathML, which browsers set by themselves: no script, no network.

A Sphinx extension; docutils turns LaTeX into MathML.
"""

from docutils import nodes
from docutils.utils.math import latex2mathml


def set_inline(writer, node):
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def set_block(writer, node):
    writer.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node, as_block):
    """A formula that cannot be read raises: the build fails at it."""
    return latex2mathml.tex2mathml(node.astext().strip(), as_block=as_block)


def setup(app):
    app.add_html_math_renderer("mathml", (set_inline, None), (set_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
