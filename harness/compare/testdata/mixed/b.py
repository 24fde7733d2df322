"""A harness in Python."""
from whale_sdk import main

SYSTEM_PROMPT = "You solve problems."


def observe(result):
    return result.text or result.error


class Agent:
    def step(self, reply):
        if reply:
            return 1

        return 2


def run(task, model, env):
    return model.chat([{"role": "user", "content": task["question"]}])


main(run)
