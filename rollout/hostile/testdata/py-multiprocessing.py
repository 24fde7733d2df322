# want: program
def run(task, model, env):
    import multiprocessing
    p = multiprocessing.Process(target = print)
    p.start()
    p.join()
    return model.chat([{"role": "user", "content": "Say yes."}])
