# The math harness in Python: what starlark.star says, with all of Python at hand.

import re  # the standard library is there; text, chat and loop are there without an import

USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 2
BLOCK = re.compile(r"```(?:python|py)[ \t]*\n(.*?)\n?[ \t]*(?:```|\Z)", re.S | re.I)


def run(task, model, env):
    shown = [chat.user(text.fill(USER_PROMPT, task))]
    for turn in range(TURNS):
        reply = model.chat(shown)
        block = BLOCK.search(reply.text)
        if block is None or turn == TURNS - 1:
            return reply
        result = env.call("calculator", code=block[1])
        shown += [reply, chat.tool(result.text + result.error)]
