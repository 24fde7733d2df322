# want: program
def run(task, model, env):
    f = open("/tmp/big", "wb")
    while True:
        f.write(bytes(1 << 20))
    return model.chat([{"role": "user", "content": "Say yes."}])
