"""The stations in order, with their equations in TeX (rendered by Gradio's KaTeX)."""

from __future__ import annotations

EQUATIONS: dict[str, str] = {
    "tokens": r"\text{text} \;\longrightarrow\; (x_1,\dots,x_S), \qquad x_i \in \{0,\dots,V-1\}",
    "embeddings": r"z_i = \sqrt{d_{\text{model}}}\; E_{x_i} + \mathrm{PE}_i",
    "positions": r"\mathrm{PE}_{p,\,2i} = \sin\frac{p}{10000^{2i/d}} \quad "
    r"\mathrm{PE}_{p,\,2i+1} = \cos\frac{p}{10000^{2i/d}}",
    "projections": r"\begin{aligned} Q &= XW^Q + b^Q \\ K &= XW^K + b^K \\ V &= XW^V + b^V \end{aligned}",
    "scores": r"A = \mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_{\text{head}}}}\right)",
    "masks": r"s_{ts} = \begin{cases} q_t \cdot k_s / \sqrt{d_{\text{head}}} & m_{ts} = 1 \\ "
    r"-\infty & m_{ts} = 0 \end{cases}",
    "heads": r"\mathrm{MultiHead}(X) = \big[\,A_1V_1 \,;\, \dots \,;\, A_HV_H\,\big]\, W^O + b^O",
    "residual": r"\begin{gathered} x \leftarrow x + f\big(\mathrm{LN}(x)\big) \\ "
    r"\mathrm{LN}(x) = \gamma \odot \frac{x-\mu}{\sqrt{\sigma^2+\varepsilon}} + \beta \end{gathered}",
    "feed-forward": r"\mathrm{FFN}(x) = \max(0,\; xW_1 + b_1)\,W_2 + b_2",
    "cross": r"\begin{aligned} Q &= X_{\text{tgt}}W^Q \\ K &= M_{\text{src}}W^K \\ "
    r"V &= M_{\text{src}}W^V \end{aligned}",
    "choice": r"p(w) = \frac{\exp(\ell_w / T)}{\sum_{v}\exp(\ell_v / T)}",
    "training": r"\begin{aligned} \mathcal{L} &= -\sum_w q_w \log p_w \\ "
    r"\mathrm{lr}(n) &= d^{-1/2}\min\!\big(n^{-1/2},\; n\,w^{-3/2}\big) \end{aligned}",
}

STATIONS = tuple(EQUATIONS)


def markdown() -> str:
    """Every equation as one Markdown text, a display each, in the order of the stations.

    It is marked as nothing to translate: "head" below a d stays what it is.
    """
    displays = "\n\n".join(f"$${tex}$$" for tex in EQUATIONS.values())
    return f'<div translate="no">\n\n{displays}\n\n</div>'
