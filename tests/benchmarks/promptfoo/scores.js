const plain = (text) =>
  text.toLowerCase().replace(/[!-\/:-@[-`{-~]/g, "").replace(/\b(a|an|the)\b/g, " ").split(/\s+/).filter(Boolean);

const f1 = (same, given, wanted) => (same ? (2 * same) / (given + wanted) : 0);

function common(given, wanted) {
  const left = new Map();
  for (const word of wanted) left.set(word, (left.get(word) || 0) + 1);
  return given.filter((word) => left.get(word) > 0 && left.set(word, left.get(word) - 1)).length;
}

function longest(a, b) {
  let row = new Array(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    b.forEach((other, i) => next.push(word === other ? row[i] + 1 : Math.max(row[i + 1], next[i])));
    row = next;
  }
  return row[b.length];
}

module.exports = (output, { vars, providerResponse }) => {
  const ids = providerResponse.metadata.ids;
  const relevant = new Set(vars.relevant.split(" "));
  const gains = ids.slice(0, 10).map((id, i) => (relevant.has(id) ? 1 / Math.log2(i + 2) : 0));
  const ideal = [...relevant].slice(0, 10).map((_, i) => 1 / Math.log2(i + 2));
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  const first = ids.findIndex((id) => relevant.has(id));
  const [given, wanted] = [plain(output), plain(vars.reference)];
  const words = [output, vars.reference].map((text) => text.toLowerCase().match(/[a-z0-9]+/g) || []);
  const namedScores = {
    "recall@5": ids.slice(0, 5).filter((id) => relevant.has(id)).length / relevant.size,
    "ndcg@10": sum(gains) / sum(ideal),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    exact_match: Number(given.join(" ") === wanted.join(" ")),
    token_f1: f1(common(given, wanted), given.length, wanted.length),
    rougeL: f1(longest(...words), words[0].length, words[1].length),
  };
  return { pass: true, score: 1, reason: "scored", namedScores };
};
