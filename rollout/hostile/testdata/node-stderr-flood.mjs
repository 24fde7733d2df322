// want: protocol|program
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
for (let i = 0; i < 100; i++) fs.writeSync(2, "x".repeat(1 << 16));
process.exit(3);
send({ type: "answer", reply: await chat() });
