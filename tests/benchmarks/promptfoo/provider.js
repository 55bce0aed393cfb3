const answers = require("./answers.json");
const milliseconds = require("./milliseconds.json");

module.exports = class {
  id() {
    return "rag";
  }
  async callApi(prompt) {
    if (milliseconds) await new Promise((done) => setTimeout(done, milliseconds));
    const [output, documents] = answers[prompt];
    return { output, metadata: { ids: documents.map((one) => one.id) } };
  }
};
