"""check.py: what is wrong with a harness in Python before it runs, as a JSON list of findings. Nothing of the program is executed."""

import ast
import json
import sys

PROMPTS = ("SYSTEM_PROMPT", "USER_PROMPT")
DEFINE_RUN = "define it at the top level: def run(task, model, env):"
PLAIN = 'write NAME = "…" once, outside of any block'
LITERAL = "a prompt is a string literal or literals joined by +; fill it in run with text.fill"


class Checker:
    def __init__(self, source):
        self.lines = source.encode().split(b"\n")
        self.findings = []

    def report(self, gate, line, col, message, suggestion=""):
        self.findings.append({"gate": gate, "line": line, "col": col, "message": message, "suggestion": suggestion})

    def at(self, node, message, suggestion="", shift=0):
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        col = len(line[: node.col_offset].decode(errors="replace")) + 1 + shift  # the tree counts bytes
        self.report("contract", node.lineno, col, message, suggestion)

    def contract(self, tree):
        """One def run(task, model, env) at the top level, and prompts that are plain strings, each assigned once."""
        runs, assigned = 0, set()
        for stmt in tree.body:
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)) and stmt.name == "run":
                runs += 1
                self.run(stmt, runs)
            elif isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and getattr(stmt.targets[0], "id", None) in PROMPTS:
                name = stmt.targets[0].id
                if name in assigned:
                    self.at(stmt, f"{name} is assigned twice")
                assigned.add(name)
                bad = not_literal(stmt.value)
                if bad is not None:
                    self.at(bad, f"{name}: got {describe(bad)}, want a string literal", LITERAL)
            else:
                self.bindings(stmt)
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                for name in node.names:
                    if name in PROMPTS or name == "run":
                        self.at(node, f"{name}: got global, want it assigned at the top level alone")
        if not runs:
            self.report("contract", 1, 1, "run: not defined", DEFINE_RUN)

    def run(self, stmt, runs):
        if runs > 1:
            self.at(stmt, "run is defined twice", shift=4)
        elif isinstance(stmt, ast.AsyncFunctionDef):
            self.at(stmt, "run: got async def, want def", "calls return when they are done", shift=10)
        elif signature(stmt.args) != "task, model, env":
            self.at(stmt, f"run: got the parameters ({signature(stmt.args)}), want (task, model, env)", shift=4)

    def bindings(self, node):
        """Reports what binds the contract's names in a form that the contract does not know. The insides of functions are their own."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name in PROMPTS:
                self.at(node, f"{node.name}: got a function or class, want a string literal")
            elif node.name == "run":
                self.at(node, "run: got a def inside a block or a class, want a def at the top level", DEFINE_RUN)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        names = []
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names = [node.id]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [(a.asname or a.name).split(".")[0] for a in node.names]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names = [node.name]
        for name in names:
            if name in PROMPTS:
                self.at(node, f"{name}: got an assignment of another form, want one plain assignment at the top level", PLAIN)
            elif name == "run":
                self.at(node, "run: got an assignment, want a def", DEFINE_RUN)
        for child in ast.iter_child_nodes(node):
            self.bindings(child)


def not_literal(e):
    """Gives the first part of an expression that is neither a string literal nor a + of such, or None."""
    while isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add):
        bad = not_literal(e.right)
        if bad is not None:
            return not_literal(e.left) or bad
        e = e.left
    return None if isinstance(e, ast.Constant) and isinstance(e.value, str) else e


def describe(e):
    if isinstance(e, ast.Constant):
        return "bytes" if isinstance(e.value, bytes) else f"{e.value}" if isinstance(e.value, (bool, type(None))) else "a number"
    if isinstance(e, ast.Name):
        return "the name " + e.id
    kinds = {ast.Call: "a call", ast.JoinedStr: "an f-string", ast.List: "a list", ast.Tuple: "a tuple", ast.BinOp: "another operator"}
    return kinds.get(type(e), "another expression")


def signature(a):
    plain = [*getattr(a, "posonlyargs", []), *a.args]
    names = [p.arg for p in plain]
    for i in range(len(a.defaults)):
        names[len(names) - 1 - i] += "=…"
    if a.vararg:
        names.append("*" + a.vararg.arg)
    names += [p.arg + ("=…" if d is not None else "") for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        names.append("**" + a.kwarg.arg)
    return ", ".join(names)


def main(path, name):
    if sys.version_info < (3, 8):
        sys.exit("got Python %d.%d, want 3.8 or later" % sys.version_info[:2])
    with open(path, encoding="utf-8", newline="") as f:
        source = f.read()
    checker = Checker(source)
    try:
        tree = ast.parse(source, name)
        compile(source, name, "exec", dont_inherit=True)
        checker.contract(tree)
    except SyntaxError as e:
        checker.report("parse", e.lineno or 1, max(e.offset or 1, 1), str(e.msg))
    except (RecursionError, MemoryError):
        checker.report("parse", 1, 1, "the program nests too deep to be read", "split long expressions")
    except ValueError as e:
        checker.report("parse", 1, 1, str(e))
    json.dump(checker.findings, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
