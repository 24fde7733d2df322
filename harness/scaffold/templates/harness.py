# A harness: run is called once an episode, in a fresh process, and returns the reply that is the final answer. See docs/contract.md.
# Try it: whale harness run FILE --config CONFIG --example 1

SYSTEM_PROMPT = "You solve problems step by step."
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 3


def run(task, model, env):
    # text, chat, loop, re, json and math are there without an import; Python's standard library is there with one.
    return loop.run(
        task,
        model,
        env,
        system=SYSTEM_PROMPT,
        user=USER_PROMPT,
        turns=TURNS,
        tools=env.tools,
        done=loop.has_box,
        nudge="Give the final answer in \\boxed{}.",
    )
