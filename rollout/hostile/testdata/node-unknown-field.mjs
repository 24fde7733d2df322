// want: protocol
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
send({ type: "request", id: 1, op: "left", reward: 1 });
send({ type: "answer", reply: await chat() });
