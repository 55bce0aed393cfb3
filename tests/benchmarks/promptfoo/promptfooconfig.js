const cases = require("./cases.json");

module.exports = {
  prompts: ["{{query}}"],
  providers: ["file://provider.js"],
  tests: cases.map((one) => ({
    description: one.id,
    vars: { query: one.query, relevant: one.relevant.join(" "), reference: one.reference },
    assert: [{ type: "javascript", value: "file://scores.js" }],
  })),
};
