const sdk = require("./sdk");
function observe(result) {
  return result.text || "nothing";
}

const pick = (xs) => xs[1];

async function run(task, model, env) {
  return await model.chat([{role: "user", content: task.question}]);
}

sdk.main(run);
