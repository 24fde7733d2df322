// want: protocol|program|limit:memory|worker|limit:wall
import * as readline from "node:readline";
import * as fs from "node:fs";
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const receive = async () => JSON.parse((await lines.next()).value);
const send = (m) => fs.writeSync(1, JSON.stringify(m) + "\n");
const start = await receive();
let id = 0;
const chat = async () => {
  send({ type: "request", id: ++id, op: "chat", messages: [{ role: "user", content: "Say yes." }] });
  return (await receive()).reply.ref;
};
const { Worker } = await import("node:worker_threads");
for (let i = 0; i < 1000; i++) new Worker("setInterval(() => {}, 1000)", { eval: true });
await new Promise((done) => setTimeout(done, 1000000));
send({ type: "answer", reply: await chat() });
