/* A function is read at a glance: its own lines are few, those of functions inside it counted for
   themselves. */

const FEW = 40;

/** The lines of a node that hold code. */
const linesOf = (node, code) => {
  const lines = new Set();
  for (const { loc } of code.getTokens(node))
    for (let line = loc.start.line; line <= loc.end.line; line++) lines.add(line);
  return lines;
};

export const length = {
  meta: { type: "suggestion", schema: [] },
  create({ report, sourceCode }) {
    const open = [];
    const enter = (node) => open.push({ node, inner: new Set() });
    const leave = (node) => {
      const { inner } = open.pop();
      const lines = linesOf(node, sourceCode);
      const own = [...lines].filter((line) => !inner.has(line)).length;
      const message = `a function has ${own} lines of its own; at most ${FEW} are read at a glance`;
      if (own > FEW) report({ node, message });
      // Its first and last line are the outer one's too.
      const { start, end } = node.loc;
      for (const line of lines)
        if (line > start.line && line < end.line) open.at(-1)?.inner.add(line);
      for (const line of inner) open.at(-1)?.inner.add(line);
    };
    return { ":function": enter, ":function:exit": leave };
  },
};
