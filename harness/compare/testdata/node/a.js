const sdk = require("./sdk");
function observe(result) {
  return result.text || result.error;
}

const pick = (xs) => xs[0];

async function run(task, model, env) {
  return await model.chat([{role: "user", content: task.question}]);
}

sdk.main(run);
