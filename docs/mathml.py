r"""Equations as MathML, which browsers draw themselves: no script, no network, the page's colours.

An equation's \tag stands at the right; equations with \qquad between them may stand one below the
other.
"""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

TAG = re.compile(r"\\tag\{([^}]*)\}")


def _inline(writer, node):
    writer.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def _block(writer, node):
    text = node.astext()
    tags = TAG.findall(text)
    number = f'<span class="eqno">({writer.encode(tags[0])})</span>' if tags else ""
    equations = TAG.sub("", text).split(r"\qquad")
    drawn = "".join(convert(equation.strip(), display="block") for equation in equations)
    writer.body.append(f'<div class="math"><div class="formula">{drawn}</div>{number}</div>\n')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
