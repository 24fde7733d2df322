# want: program
def run(task, model, env):
    import socket
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    return model.chat([{"role": "user", "content": "Say yes."}])
