# want: limit:memory|program
def run(task, model, env):
    import threading, time
    while True:
        threading.Thread(target = time.sleep, args = (1000,), daemon = True).start()
    return model.chat([{"role": "user", "content": "Say yes."}])
