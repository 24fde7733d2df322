"""whale.py: harness programs in Python. One file, no dependencies, Python 3.8 or later.

A harness is a file with run(task, model, env), written as in Starlark but with all of Python:

    SYSTEM_PROMPT = "You solve word problems."
    USER_PROMPT = "{question}\\nPut the final number into \\\\boxed{}."

    def run(task, model, env):
        reply = model.chat([chat.system(SYSTEM_PROMPT), chat.user(text.fill(USER_PROMPT, task))])
        if text.boxed(reply.text) is None:
            reply = model.chat([chat.user(task.question), reply, chat.user("Give the final number in \\\\boxed{}.")])
        return reply

The modules text, chat and loop are there without an import, and so are re, json, math and fail, with the functions that they have in
Starlark besides Python's own. `import whale` is optional; it tells an editor the types.

Every episode is a fresh process, started as `python3 whale.py harness.py`. This file speaks the protocol (JSON lines, see docs) over the
pipes that it was started with, and keeps them away from the program: print and sys.stdout go to the episode's log, input is empty. Whatever
a program does to this file it does to its own episode; the host checks every message.
"""

from __future__ import annotations

import json as _json
import math as _math
import os as _os
import re
import sys as _sys
import _signal
from _thread import RLock as _RLock

__all__ = ["text", "chat", "loop", "json", "math", "re", "fail", "Error", "Reply", "Result", "Task", "Model", "Env"]

PROTOCOL = 1  # of the messages over the pipe
CONTRACT = 1  # of what a harness may say to its host
OUT_OF_MEMORY = 12  # the status of a process that leaves because the program ran out of memory

_SIGNALS = range(1, getattr(_signal, "NSIG", 65))

TYPE_CHECKING = False  # true for type checkers alone: typing takes longer to import than everything here
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Union

    Act = Callable[["Reply", "Env"], Any]
    Observe = Callable[["Union[Result, str]"], str]
    Done = Callable[["Reply"], bool]

# The bounds of a value that crosses between program and host.
_MAX_NESTING, _MAX_JSON, _MAX_DIGITS, _MAX_TEXT = 64, 1 << 20, 1000, 8 << 20


class Error(Exception):
    """A call that the contract does not allow. Where the program does not catch it, the episode fails with its text."""


def fail(*args, sep: str = " "):
    """Ends the episode as failed, with a message."""
    raise Error("fail: " + sep.join(str(a) for a in args))


# --- arguments -------------------------------------------------------------------------------------------------------------------


def _kind(v) -> str:
    """The name of a value's type as messages write it."""
    return "string" if isinstance(v, str) else type(v).__name__


def _a(noun: str) -> str:
    return ("an " if noun[:1] in "aeiou" else "a ") + noun


def _brief(v) -> str:
    """Writes a value for a message: short, whatever it holds."""
    if isinstance(v, str):
        return _json.dumps(v if len(v) <= 40 else v[:40] + "…", ensure_ascii=False)
    if isinstance(v, int) and not isinstance(v, bool):
        return str(v) if abs(v) < 1 << 64 else "a huge int"
    return repr(v) if isinstance(v, (bool, float, type(None))) else _kind(v)


_WANT = {"str": "string", "Act": "function:act", "Observe": "function:observe", "Done": "function:done"}


def _check(kind: str, v, low, choices):
    """Says what is wrong with an argument, or None. kind is the annotation of the parameter."""
    optional = kind.startswith("Optional[")
    if optional:
        kind = kind[9:-1]
        if v is None:
            return None
    if choices:
        return None if v in choices else f"got {_brief(v)}, want " + " or ".join(f'"{c}"' for c in choices)
    if kind == "str":
        ok = isinstance(v, str)
    elif kind == "int":
        ok = isinstance(v, int) and not isinstance(v, bool)
        if ok and not -(1 << 31) <= v < 1 << 31:
            return f"got {_brief(v)}, want an int of 32 bits"
        if ok and low is not None and v < low:
            return f"got {v}, want at least {low}"
    elif kind == "list":
        ok = isinstance(v, (list, tuple))
    elif kind in _WANT:
        ok = callable(v)
    else:
        ok = True
    return None if ok else f"got {_kind(v)}, want {_WANT.get(kind, kind)}{' or None' if optional else ''}"


def _function(full: str, low=None, choices=None):
    """Makes a function check its arguments by its own signature, with the messages that Starlark's library has. low bounds the ints by
    name, choices the strings."""
    low, choices = low or {}, choices or {}

    def wrap(fn):
        names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
        defaults = fn.__defaults__ or ()
        required = len(names) - len(defaults)
        listed = ", ".join(names)

        def call(*args, **kwargs):
            if len(args) > len(names):
                raise Error(f"{full}: got {len(args)} positional arguments, want at most {len(names)} ({listed})")
            bound = dict(zip(names, args))
            for name, v in kwargs.items():
                if name not in names:
                    raise Error(f"{full}: got an argument {name}, want {listed}")
                if name in bound:
                    raise Error(f"{full}: argument {name}: got it twice")
                bound[name] = v
            for i, name in enumerate(names):
                if name not in bound:
                    if i < required:
                        raise Error(f"{full}: argument {name} is missing: want ({listed})")
                    continue
                wrong = _check(fn.__annotations__.get(name, "object"), bound[name], low.get(name), choices.get(name))
                if wrong:
                    raise Error(f"{full}: argument {name}: {wrong}")
            return fn(**bound)

        call.__name__, call.__qualname__, call.__doc__, call.__wrapped__ = fn.__name__, full, fn.__doc__, fn
        return call

    return wrap


class _Named(type):
    """The type of the library's modules: an unknown name is an error that says what to write instead."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        hint = cls._hints.get(name)
        if hint:
            raise AttributeError(f"{cls.__name__} has no .{name}: use {hint}")
        known = ", ".join("." + k for k in sorted(vars(cls)) if not k.startswith("_"))
        raise AttributeError(f"{cls.__name__} has no .{name}: it has {known}")

    def __repr__(cls):
        return f"<module {cls.__name__}>"


# --- text ------------------------------------------------------------------------------------------------------------------------

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


class text(metaclass=_Named):
    """Cutting what is wanted out of a text."""

    _hints = {"split": "s.split()", "strip": "s.strip()", "format": "text.fill(template, values)", "lines": "s.splitlines()"}

    @staticmethod
    @_function("text.fence", choices={"which": ("first", "last")})
    def fence(s: str, lang: str = "python", which: str = "first") -> Optional[str]:
        """Gives the inside of a fenced block (three backticks and the language, … three backticks), without the last newline, or None.
        The last block may lack its closing fence."""
        inside = None
        while True:
            _, found, s = s.partition("```")
            if not found:
                return inside
            block, _, s = s.partition("```")
            info, found, code = block.partition("\n")
            if not found:
                continue  # a fence within one line: no block
            name = info.strip(_SPACE).partition(" ")[0].lower()
            if lang == "" or name == lang.lower() or (lang.lower() == "python" and name == "py"):
                code = code.rstrip(" \t")
                code = code[:-1] if code.endswith("\n") else code
                inside = code[:-1] if code.endswith("\r") else code
                if which == "first":
                    return inside

    @staticmethod
    @_function("text.tag", choices={"which": ("first", "last")})
    def tag(s: str, name: str, which: str = "last") -> Optional[str]:
        """Gives what stands between <name> and </name>, without spaces around it, or None."""
        opening, closing = f"<{name}>", f"</{name}>"
        if which == "last":
            end = s.rfind(closing)
            start = s.rfind(opening, 0, end) if end >= 0 else -1
        else:
            start = s.find(opening)
            end = s.find(closing, start + len(opening)) if start >= 0 else -1
        return s[start + len(opening) : end].strip(_SPACE) if start >= 0 and end >= 0 else None

    @staticmethod
    @_function("text.boxed")
    def boxed(s: str) -> Optional[str]:
        """Gives the content of the last \\boxed{…} whose braces are balanced, or None."""
        stack, start, end, skip = [], -1, -1, -1  # skip: an escaped character
        for m in re.finditer(r"[\\{}]", s):
            i, c = m.start(), m.group()
            if i == skip:
                continue
            if c == "\\":
                if s[i + 1 : i + 2] in ("{", "}", "\\"):
                    skip = i + 1
            elif c == "{":
                stack.append(i)
            elif stack:
                at = stack.pop()
                if at > start and s.endswith("\\boxed", 0, at):
                    start, end = at, i
        return None if start < 0 else s[start + 1 : end]

    @staticmethod
    @_function("text.fill")
    def fill(template: str, values: object) -> str:
        """Replaces {name} by the value of that name, and leaves other braces alone. values is the task, or a dict with string keys."""
        if isinstance(values, _Record):
            known = values._fields
        elif isinstance(values, dict):
            known = values
            for key in values:
                if not isinstance(key, str):
                    raise Error(f"text.fill: argument values: got a dict with {_a(_kind(key))} key, want string keys")
        else:
            raise Error(f"text.fill: argument values: got {_a(_kind(values))}, want the task or a dict")
        size = 0

        def value(m):
            nonlocal size
            out = str(known[m.group(1)]) if m.group(1) in known else m.group()
            size += len(out)
            if size > _MAX_TEXT:
                raise Error("text.fill: the result is too long")
            return out

        return re.sub(r"\{([^{}]*)\}", value, template)

    @staticmethod
    @_function("text.head", low={"n": 0})
    def head(s: str, n: int) -> str:
        """Gives the first n lines."""
        end = 0
        for _ in range(n):
            i = s.find("\n", end)
            if i < 0:
                return s
            end = i + 1
        return s[: max(end - 1, 0)]

    @staticmethod
    @_function("text.tail", low={"n": 0})
    def tail(s: str, n: int) -> str:
        """Gives the last n lines."""
        if n == 0:
            return ""
        start = len(s) - 1 if s.endswith("\n") else len(s)
        for _ in range(n):
            start = s.rfind("\n", 0, start)
            if start < 0:
                return s
        return s[start + 1 :]

    @staticmethod
    @_function("text.truncate", low={"max_chars": 0})
    def truncate(s: str, max_chars: int) -> str:
        """Gives the first max_chars characters."""
        return s[:max_chars]


# --- chat ------------------------------------------------------------------------------------------------------------------------


class chat(metaclass=_Named):
    """Builders of messages."""

    _hints = {"message": "chat.user(content)", "reply": "the reply itself", "developer": "chat.system(content)"}

    @staticmethod
    @_function("chat.system")
    def system(content: str) -> Dict[str, str]:
        """Makes a system message."""
        return {"role": "system", "content": content}

    @staticmethod
    @_function("chat.user")
    def user(content: str) -> Dict[str, str]:
        """Makes a user message."""
        return {"role": "user", "content": content}

    @staticmethod
    @_function("chat.assistant")
    def assistant(content: str) -> Dict[str, str]:
        """Makes an assistant message of the harness's own words. To show the model its own reply, put the reply itself into the list."""
        return {"role": "assistant", "content": content}

    @staticmethod
    @_function("chat.tool")
    def tool(content: str, name: str = "") -> Dict[str, str]:
        """Makes a message that shows a tool's result."""
        m = {"role": "tool", "content": content}
        return {**m, "name": name} if name else m


# --- values that come from the host ----------------------------------------------------------------------------------------------


class _Record:
    """A value with fields that can be read and not written."""

    __slots__ = ("_fields",)
    _hints: dict = {}

    def __init__(self, fields):
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            pass
        kind = type(self).__name__
        if name in self._hints:
            raise AttributeError(f"{kind} has no .{name} ({self._hints[name]})")
        known = ", ".join("." + k for k in sorted(self.__dir__()))
        raise AttributeError(f"{kind} has no .{name}: it has {known or 'no fields'}")

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__}.{name}: fields can be read and not written")

    __delattr__ = lambda self, name: self.__setattr__(name, None)  # noqa: E731

    def __getitem__(self, key):
        kind = type(self).__name__
        raise TypeError(f"{kind}[{_brief(key)}]: {_a(kind)} has fields, want {kind}.name ({self._hints.get('content', 'write a dot')})")

    def __dir__(self):
        return list(self._fields)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k} = {v!r}' for k, v in self._fields.items())})"


class Task(_Record):
    """What the task lets an agent see, as fields, such as task.question."""

    __slots__ = ()


class Tool(_Record):
    """The specification of a tool: name, description, parameters."""

    __slots__ = ()


class Parameter(_Record):
    """A parameter of a tool: name, type, description, required, authored."""

    __slots__ = ()


class ToolCall(_Record):
    """A call that the model wrote: name, args. env.call(call.name, **call.args) makes it."""

    __slots__ = ()


class Result(_Record):
    """What a tool answered: name, text, data, error ("" = none), done (whether the environment has ended)."""

    __slots__ = ()


class Left(_Record):
    """What may still be spent: tokens, model_calls, tool_calls."""

    __slots__ = ()


class Reply(_Record):
    """A completion of this episode: text, tool_calls, finish_reason, tokens. It is equal to another where both stand for the same model
    call, and it can stand in messages as it is."""

    __slots__ = ("_ref",)
    _hints = {"content": "its text is reply.text", "message": "its text is reply.text", "choices": "its text is reply.text"}

    def __init__(self, ref, fields):
        super().__init__(fields)
        object.__setattr__(self, "_ref", ref)

    def __eq__(self, other):
        return self._ref == other._ref if type(other) is Reply else NotImplemented

    def __hash__(self):
        return hash(self._ref)

    def __repr__(self):
        return f"reply {self._ref}: {self._fields['text']!r}"


for _c, _name in (
    (Task, "task"), (Tool, "tool"), (Parameter, "parameter"), (ToolCall, "tool_call"), (Result, "result"), (Left, "left"), (Reply, "reply"),
):  # fmt: skip
    _c.__name__ = _name  # as messages write it


def _tool(t) -> Tool:
    flags = {"required": False, "authored": False}
    params = [Parameter({**flags, **p}) for p in t.get("parameters") or []]
    return Tool({"name": t["name"], "description": t.get("description", ""), "parameters": params})


# --- values that go to the host --------------------------------------------------------------------------------------------------


def _clean(s: str) -> str:
    """Makes a text fit for UTF-8: pairs of surrogates become their character, single ones U+FFFD."""
    try:
        s.encode()
        return s if type(s) is str else str.__str__(s)
    except UnicodeEncodeError:
        return s.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _plain(v, depth=_MAX_NESTING):
    """Gives a copy of plain data that JSON can carry as it is."""
    if depth == 0:
        raise Error(f"the value is nested deeper than {_MAX_NESTING}")
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, int):
        if v.bit_length() > 3 * _MAX_DIGITS:
            raise Error(f"an int has more than about {_MAX_DIGITS} digits")
        return int(v)
    if isinstance(v, float):
        if not _math.isfinite(v):
            raise Error(f"got the float {v!r}, want a finite one")
        return float(v)
    if isinstance(v, str):
        return _clean(v)
    if isinstance(v, (list, tuple)):
        return [_plain(x, depth - 1) for x in v]
    if isinstance(v, dict):
        for key in v:
            if not isinstance(key, str):
                raise Error(f"got a dict with {_a(_kind(key))} key, want string keys")
        return {_clean(k): _plain(x, depth - 1) for k, x in v.items()}
    if isinstance(v, Reply):
        raise Error("got a reply, want plain data (its text is reply.text)")
    raise Error(f"got {_kind(v)}, want plain data (None, bool, int, float, string, list, dict)")


def _args(function, args):
    out = {}
    for name, v in args.items():
        try:
            out[_clean(name)] = _plain(v)
        except Error as e:
            raise Error(f"{function}: argument {name}: {e}") from None
    return out


def _message(v) -> dict:
    if type(v) is Reply:
        return {"role": "assistant", "reply": v._ref}
    if isinstance(v, str):
        raise Error("got a string, want a reply or a dict (write chat.user(text))")
    if not isinstance(v, dict):
        raise Error(f"got {_a(_kind(v))}, want a reply or a dict (see chat.user)")
    m = {}
    for key, value in v.items():
        if not isinstance(key, str):
            raise Error(f"got {_a(_kind(key))} key, want role, content or name")
        if isinstance(value, Reply):
            raise Error(f"{_brief(key)}: got a reply, want a string (put the reply itself into the list)")
        if not isinstance(value, str):
            raise Error(f"{_brief(key)}: got {_kind(value)}, want a string")
        if key not in ("role", "content", "name"):
            raise Error(f"got the key {_brief(key)}, want role, content or name")
        m[key] = _clean(value)
    if not m.get("role"):
        raise Error('the key "role" is missing')
    if m["role"] not in ("system", "user", "assistant", "tool"):
        raise Error(f'role: got {_brief(m["role"])}, want "system", "user", "assistant" or "tool"')
    return m


def _fields_of(v, kind, known) -> dict:
    """Reads the fields of a record of the given kind, or of a dict with the same names. known gives a type for each name."""
    if isinstance(v, _Record) and type(v).__name__ == kind:
        v = v._fields
    elif not isinstance(v, dict):
        raise Error(f"got {_a(_kind(v))}, want a {kind} as in env.tools, or a dict")
    out = {}
    for key, value in v.items():
        if not isinstance(key, str):
            raise Error(f"got a dict with {_a(_kind(key))} key, want string keys")
        if key not in known:
            names = [k for k in known if k != "authored"]
            raise Error(f"{_brief(key)}: unknown, want {', '.join(names[:-1])} or {names[-1]}")
        if not isinstance(value, (list, tuple) if known[key] is list else known[key]):
            want = "a list" if known[key] is list else "a bool" if known[key] is bool else "a string"
            raise Error(f"{_brief(key)}: got {_a(_kind(value))}, want {want}")
        out[key] = _clean(value) if known[key] is str else value
    if not out.get("name"):
        raise Error("name is missing")
    return out


def _spec(v) -> dict:
    t = _fields_of(v, "tool", {"name": str, "description": str, "parameters": list})
    params = []
    for i, p in enumerate(t.get("parameters", ())):
        known = {"name": str, "type": str, "description": str, "required": bool, "authored": bool}
        try:
            p = _fields_of(p, "parameter", known)
            if p.get("type") not in ("string", "integer", "number", "boolean"):
                raise Error(f'type: got {_brief(p.get("type", ""))}, want "string", "integer", "number" or "boolean"')
        except Error as e:
            raise Error(f'"parameters": [{i}]: {e}') from None
        params.append({k: kind() if p.get(k) is None else p[k] for k, kind in known.items()})
    return {"name": t["name"], "description": t.get("description", ""), "parameters": params}


# --- model and env ---------------------------------------------------------------------------------------------------------------


class Model:
    """The parameter model of run. The sampling settings are the run's."""

    __slots__ = ()

    @staticmethod
    @_function("model.chat", low={"max_tokens": 1})
    def chat(messages: list, tools: list = (), max_tokens: Optional[int] = None, stop: list = ()) -> Reply:
        """Samples one reply of the model.

        messages: the conversation: replies as they are, and dicts with role, content and perhaps name (see chat)
        tools: tools that the model is told of: elements of env.tools, or dicts of that form
        max_tokens: the most tokens to sample; None = as many as are left
        stop: texts that end the reply once it contains one
        """
        if not messages:
            raise Error("model.chat: messages: got an empty list, want at least one message")
        request = {"op": "chat", "messages": _each("messages", messages, _message)}
        if tools:
            request["tools"] = _each("tools", tools, _spec)
        if max_tokens is not None:
            request["max_tokens"] = max_tokens
        for i, s in enumerate(stop):
            if not isinstance(s, str):
                raise Error(f"model.chat: stop[{i}]: got {_kind(s)}, want string")
            if s == "":
                raise Error(f"model.chat: stop[{i}]: got an empty string")
        if stop:
            request["stop"] = [_clean(s) for s in stop]
        r = _ask(request)["reply"]
        calls = [ToolCall({"name": c["name"], "args": dict(sorted((c.get("args") or {}).items()))}) for c in r.get("tool_calls") or []]
        return Reply(r["ref"], {"text": r["text"], "tool_calls": calls, "finish_reason": r["finish_reason"], "tokens": r["tokens"]})

    @staticmethod
    @_function("model.count")
    def count(text: str) -> int:
        """Counts the tokens of a text."""
        return _ask({"op": "count", "text": _clean(text)}).get("number", 0)

    @staticmethod
    @_function("model.clip", low={"max_tokens": 1})
    def clip(text: str, max_tokens: int) -> str:
        """Gives the longest beginning of a text that has at most max_tokens tokens."""
        return _ask({"op": "clip", "text": _clean(text), "max_tokens": max_tokens}).get("text", "")

    def __getattr__(self, name):
        raise AttributeError(f"model has no .{name}: it has .chat, .clip, .count")


def _each(name, values, convert):
    out = []
    for i, v in enumerate(values):
        try:
            out.append(convert(v))
        except Error as e:
            raise Error(f"model.chat: {name}[{i}]: {e}") from None
    return out


class Env:
    """The parameter env of run: the world's tools, and what may still be spent."""

    __slots__ = ("_tools",)

    def __init__(self, tools):
        self._tools = tools

    @property
    def tools(self) -> List[Tool]:
        """The tools of the task."""
        return list(self._tools)

    @property
    def left(self) -> Left:
        """What may still be spent; asked anew each time."""
        return Left(_ask({"op": "left"})["left"])

    def call(self, *name: str, **args: Any) -> Result:
        """Calls a tool: its name, then its arguments as keywords. The tool's own complaint, such as a wrong argument, is in
        result.error."""
        tool, args = _named("env.call", "name", name, args)
        r = _ask({"op": "tool", "name": tool, "args": _args("env.call", args)})["result"]
        fields = {"name": tool, "text": r.get("text", ""), "data": r.get("data"), "error": r.get("error", ""), "done": r.get("done", False)}
        return Result(fields)

    def render(self, *block: str, **args: Any) -> str:
        """Gives a block of text that the task vouches for, where it offers one: its name, then its arguments as keywords."""
        name, args = _named("env.render", "block", block, args)
        return _ask({"op": "render", "name": name, "args": _args("env.render", args)}).get("text", "")

    def __getattr__(self, name):
        raise AttributeError(f"env has no .{name}: it has .call, .left, .render, .tools")

    def __repr__(self):
        return "env"


def _named(function, parameter, positional, keywords):
    """Splits the arguments of env.call and env.render. A tool may have a parameter of our own parameter's name."""
    keywords = dict(keywords)
    if len(positional) > 1:
        raise Error(f"{function}: got {len(positional)} positional arguments, want at most 1 ({parameter})")
    if not positional and parameter not in keywords:
        raise Error(f"{function}: argument {parameter} is missing: want ({parameter})")
    name = positional[0] if positional else keywords.pop(parameter)
    if not isinstance(name, str):
        raise Error(f"{function}: argument {parameter}: got {_kind(name)}, want string")
    return _clean(name), keywords


# --- loop ------------------------------------------------------------------------------------------------------------------------

_NO_CALLS_LEFT = "no tool calls are left: give the final answer"


@_function("loop.observe")
def _observe(result: object) -> str:
    """Gives a result's error, or its text where there is none."""
    return result if isinstance(result, str) else result.error or result.text


@_function("loop.tools")
def _tools(reply: object, env: object):
    """Makes the tool calls that the model wrote, in their order."""
    results = []
    for call in reply.tool_calls:
        if env.left.tool_calls < 1:
            results.append(_NO_CALLS_LEFT)
            break
        results.append(env.call(call.name, **call.args))
        if results[-1].done:
            break
    return results or None


class loop(metaclass=_Named):
    """A ready agent loop, and its parts."""

    _hints: dict = {}

    observe = staticmethod(_observe)
    tools = staticmethod(_tools)

    @staticmethod
    @_function("loop.clip_observe", low={"n": 1})
    def clip_observe(n: int) -> Observe:
        """Makes an observe function that shows at most n characters."""
        return lambda result: text.truncate(_observe(result), n)

    @staticmethod
    @_function("loop.code", choices={"which": ("first", "last")})
    def code(tool: str = "calculator", arg: str = "code", lang: str = "python", which: str = "first") -> Act:
        """Makes an act function that hands a fenced block of the reply to a tool."""

        def act(reply, env):
            block = text.fence(reply.text, lang=lang, which=which)
            if block is None:
                return None
            if env.left.tool_calls < 1:
                return _NO_CALLS_LEFT
            return env.call(tool, **{arg: block})

        return act

    @staticmethod
    @_function("loop.has_box")
    def has_box(reply: object) -> bool:
        """Says whether a reply holds a \\boxed{…}."""
        return text.boxed(reply.text) is not None

    @staticmethod
    @_function("loop.has_tag")
    def has_tag(name: str) -> Done:
        """Makes a done function that asks for <name>…</name>."""
        return lambda reply: text.tag(reply.text, name) is not None

    @staticmethod
    @_function("loop.run", low={"turns": 1, "nudges": 0, "max_tokens": 1, "keep": 1})
    def run(
        task: object, model: object, env: object, system: str = "", user: str = "{question}", turns: int = 2, act: Act = _tools,
        observe: Observe = _observe, done: Optional[Done] = None, nudge: str = "", nudges: int = 1, final: str = "",
        max_tokens: Optional[int] = None, stop: list = (), tools: list = (), keep: Optional[int] = None,
    ) -> Optional[Reply]:  # fmt: skip
        """Runs the loop: the model speaks, its tools are called and it is shown their results, until a reply calls no tool.

        It stops early where nothing is left of model calls or tokens, and where a result says that the environment has ended.

        system: the system message; "" = none
        user: the first user message; {name} stands for the task's field of that name
        turns: the most model calls
        act: what calls the tools: act(reply, env) gives None where the reply asks for none, else a result or a list of results
        observe: what the model is shown of a result: observe(result) gives a text
        done: what a reply must fulfil: done(reply) gives a bool; None = any reply without a tool call is final
        nudge: what the model is told where a reply is not done; "" = such a reply is final
        nudges: how often it is told
        final: a user message before the last turn; "" = none
        max_tokens: the most tokens of each reply; None = as many as are left
        stop: texts that end a reply once it contains one
        tools: tools that the model is told of, such as env.tools
        keep: how many of the latest turns the model is shown, besides the first messages; None = all
        """
        opening = [chat.system(system)] if system else []
        opening.append(chat.user(text.fill(user, task)))
        rounds = []  # for each turn, its reply and the messages that answered it
        reply = None
        for turn in range(turns):
            left = env.left
            if left.model_calls < 1 or left.tokens < 1:
                break
            shown = rounds if keep is None else rounds[-keep:]
            messages = opening + [message for part in shown for message in part]
            if final and (turn == turns - 1 or left.model_calls == 1):
                messages.append(chat.user(final))
            reply = model.chat(messages, tools=tools, max_tokens=max_tokens, stop=stop)

            results = act(reply, env)
            if results is not None:
                results = results if isinstance(results, (list, tuple)) else [results]
                rounds.append([reply] + [chat.tool(observe(r)) for r in results])
                if any(not isinstance(r, str) and r.done for r in results):
                    break
            elif nudge and nudges > 0 and done and not done(reply):
                nudges -= 1
                rounds.append([reply, chat.user(nudge)])
            else:
                break
        return reply


# --- Python's modules, with what Starlark's of the same name have besides -------------------------------------------------------------


class _Besides:
    def __init__(self, module, **more):
        self.__dict__.update(more, _module=module)

    def __getattr__(self, name):
        return getattr(self._module, name)

    def __repr__(self):
        return repr(self._module)


_NONE = object()


def _encodable(v):
    if isinstance(v, _Record):
        return v._fields
    raise Error(f"json.encode: got {_kind(v)}, want plain data")


def _encode(x: object) -> str:
    return _json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_encodable)


def _encode_indent(x: object, prefix: str = "", indent: str = "\t") -> str:
    lines = _json.dumps(x, sort_keys=True, indent=indent, ensure_ascii=False, default=_encodable)
    return lines.replace("\n", "\n" + prefix)


def _decode(s: str, default: object = _NONE) -> object:
    try:
        return _json.loads(s)
    except (ValueError, RecursionError) as e:
        if default is not _NONE:
            return default
        raise Error(f"json.decode: {e} (give a default: json.decode(s, None))") from None


def _indent(s: str, prefix: str = "", indent: str = "\t") -> str:
    lines = _json.dumps(_decode(s), indent=indent, ensure_ascii=False)
    return lines.replace("\n", "\n" + prefix)


json = _Besides(
    _json, encode=_function("json.encode")(_encode), encode_indent=_function("json.encode_indent")(_encode_indent),
    decode=_function("json.decode")(_decode), indent=_function("json.indent")(_indent),
)  # fmt: skip
math = _Besides(_math, mod=_math.fmod, round=lambda x: _math.copysign(_math.floor(abs(x) + 0.5), x))


# --- the episode -----------------------------------------------------------------------------------------------------------------


class _Episode:
    """The pipes to the host. Requests come one at a time, from whichever thread; nothing else writes to the pipe."""

    def __init__(self, source, sink, start):
        self.source, self.sink = source, sink
        self.limit = start["limits"]["message_bytes"]
        self.most = min(6 * self.limit + (1 << 20), 32 << 20)  # bytes of a line
        self.lock, self.busy = _RLock(), False
        self.requests, self.answered, self.unsent = 0, 0, b""
        self.mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())  # as it is

    def line(self, message):
        """Writes a message as a line that is not too long."""
        for _ in range(2):
            data = _json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
            if len(data) <= self.most:
                return data
            self.shorten(message)
        raise Error(f"{message.get('op', message['type'])}: got more than {self.most} bytes of JSON")

    def write(self):
        try:
            while self.unsent:
                self.unsent = self.unsent[_os.write(self.sink, self.unsent) :]
        except BrokenPipeError:
            _os._exit(0)  # the host has ended the episode

    def read(self):
        line = self.source.readline()
        if not line:
            _os._exit(0)  # the host has ended the episode
        self.answered += 1
        return line

    def whole(self, f):
        """Calls f while no signal can break it off in the middle of a line: a handler of the program may raise an exception."""
        try:
            _signal.pthread_sigmask(_signal.SIG_BLOCK, _SIGNALS)
            return f()
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, self.mask)

    def send(self, line, requests=None):
        """Sends a line, which makes the number of requests what is given."""
        line, requests = memoryview(line), self.requests if requests is None else requests
        self.unsent, self.requests = line, requests  # no call stands between the two, so no signal does
        self.whole(self.write)

    def shorten(self, message):
        """Cuts a call's messages to what is just too much, so that the host reads the call and says which limit it breaks."""
        left = self.limit + 1
        for m in message.get("messages", ()):
            m["content"] = m.get("content", "")[:left]
            left -= len(m["content"])

    def receive(self):
        self.source.peek(1)  # the wait, which a signal may break off: what has come stays in the buffer
        return self.whole(self.read)

    def settle(self):
        """Reads the responses to requests that were broken off: a host that cannot get rid of them reads nothing more."""
        self.whole(self.write)
        while self.answered < self.requests:
            self.receive()

    def log(self, s):
        with self.lock:
            if not self.busy:
                self.settle()
            if not self.unsent:  # else a finalizer prints in the middle of a line
                self.send(self.line({"type": "print", "text": _clean(s)}))

    def ask(self, request):
        with self.lock:
            if self.busy:  # a finalizer or a signal handler, in the middle of a request of the same thread
                raise Error("a request inside of a request")
            try:
                self.busy = True
                self.settle()
                number = self.requests + 1
                self.send(self.line({"type": "request", "id": number, **request}), number)
                return _json.loads(self.receive())
            finally:
                self.busy = False

    def end(self, message):
        """Sends the last message and leaves at once: nothing of the program runs any more, whatever threads and finalizers it has."""
        self.lock.acquire()
        self.busy = True
        self.send(self.line(message))
        _os._exit(0)


_episode = None


def _ask(request):
    if _episode is None:
        raise Error(f"{request['op']}: there is no episode: model and env work inside of run")
    return _episode.ask(request)


class _Log:
    """sys.stdout: a print is a message. What is written without a newline waits for one."""

    encoding, errors, closed, name, mode = "utf-8", "replace", False, "<log>", "w"

    def __init__(self, episode, size):
        self.episode, self.size = episode, size  # size: characters of one message at most
        self.held, self.length, self.cut = [], 0, False

    def write(self, s):
        if not isinstance(s, str):
            raise TypeError(f"write: got {_kind(s)}, want string")
        if s == "\n" and self.cut and not self.held:
            self.cut = False  # the end of a text that was too long to wait for it
            return 1
        self.held.append(s)
        self.length += len(s)
        if s.endswith("\n") or self.length > self.size:
            self.flush_held()
            self.cut = not s.endswith("\n")
        return len(s)

    def flush_held(self):
        s, self.held, self.length = "".join(self.held), [], 0
        s = s[:-1] if s.endswith("\n") else s
        for at in range(0, max(len(s), 1), self.size):
            self.episode.log(s[at : at + self.size])

    def writelines(self, lines):
        for s in lines:
            self.write(s)

    def flush(self):
        pass

    close = flush

    def isatty(self):
        return False

    def readable(self):
        return False

    seekable = readable

    def writable(self):
        return True

    def fileno(self):
        raise OSError("the log has no descriptor")


# A part of an error's text, and what to write instead; the first that is contained decides.
_ADVICE = (
    ('(not "reply")', "its text is reply.text"),
    ("got 'reply'", "its text is reply.text"),
    ("'reply' object", "its text is reply.text"),
    ("expected string or bytes-like object, got 'NoneType'", "check for None first"),
    ("'NoneType' object", "check for None first"),
    ('(not "NoneType")', "check for None first"),
    ('(not "int") to str', "write str(n)"),
    ('(not "float") to str', "write str(x)"),
    ("invalid literal for int()", "check the text with re.fullmatch first, or catch ValueError"),
    ("could not convert string to float", "check the text with re.fullmatch first, or catch ValueError"),
    ("JSONDecodeError", "give a default: json.decode(s, None)"),
    ("No module named", "a harness has Python's standard library and nothing else"),
    ("name 'task' is not defined", "task is a parameter of run: hand it to the function that uses it"),
    ("name 'model' is not defined", "model is a parameter of run: hand it to the function that uses it"),
    ("name 'env' is not defined", "env is a parameter of run: hand it to the function that uses it"),
    ("EOF when reading a line", "a harness has no input: the task's fields are in task"),
    ("PermissionError", "a harness has no network, no other processes, and files only in /tmp"),
    ("Read-only file system", "a harness has no network, no other processes, and files only in /tmp"),
)


def _describe(e, program):
    """Says in one line what an exception means, and where in the program it came about (0 = nowhere in it)."""
    line, tb = 0, e.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == program:
            line = tb.tb_lineno
        tb = tb.tb_next
    if isinstance(e, SyntaxError) and e.filename == program:
        line = e.lineno or 0
    if isinstance(e, SystemExit):
        return "the program left by exit (return a reply or None instead)", line
    try:
        said = str(e.msg) if isinstance(e, SyntaxError) else str(e)
    except BaseException:
        said = "an exception that cannot say what it is"
    if not isinstance(e, Error):
        said = f"{type(e).__name__}: {said}" if said else type(e).__name__
    for part, advice in _ADVICE:
        if part in said:
            said += f" ({advice})"
            break
    return said[:600], line


def _type_of_answer(v):
    if isinstance(v, str):
        return "run returned a string, want a reply or None (return the reply itself, not its text)"
    if type(v).__name__ == "coroutine":
        return "run returned a coroutine, want a reply or None (write def run, without async)"
    return f"run returned {_a(_kind(v))}, want a reply or None"


def _open_pipes():
    """Takes the pipes away from descriptors 0 and 1 and from sys, so that a program that reads or prints does not speak to the host."""
    source, sink = _os.fdopen(_os.dup(0), "rb", 1 << 16), _os.dup(1)
    empty, other = _os.pipe()
    _os.close(other)
    _os.dup2(empty, 0)
    _os.close(empty)
    _os.dup2(2, 1)  # what is written to descriptor 1 itself is a complaint
    return source, sink


def _main(path):
    """Runs one episode of the program at path."""
    global _episode
    source, sink = _open_pipes()
    line = source.readline()
    if not line:
        _os._exit(0)
    start = _json.loads(line)
    if (start.get("type"), start.get("protocol"), start.get("contract")) != ("start", PROTOCOL, CONTRACT):
        _sys.stderr.write(f"whale.py: start: got protocol {start.get('protocol')} and contract {start.get('contract')}, want 1 and 1\n")
        _os._exit(3)
    program = _os.path.basename(path)
    _episode = episode = _Episode(source, sink, start)
    limits = start["limits"]
    log = _sys.stdout = _sys.__stdout__ = _Log(episode, max(1, min(limits["log_bytes"] + 1, limits["message_bytes"])))

    ballast = [bytearray(1 << 21)]  # given back where memory runs out, so that there is some to say so
    try:
        with open(path, encoding="utf-8") as f:
            code = compile(f.read(), program, "exec", dont_inherit=True)
        module = type(_sys)("harness")
        module.__file__ = path
        _sys.argv = [path]
        _sys.modules["harness"], _sys.modules["whale"] = module, _sys.modules["__main__"]
        space = module.__dict__
        space.update(text=text, chat=chat, loop=loop, re=re, json=json, math=math, fail=fail)
        exec(code, space)
        run = space.get("run")
        if not callable(run):
            raise Error("run: not defined (define it at the top level: def run(task, model, env):)")
        answer = run(Task(start["task"] or {}), Model(), Env([_tool(t) for t in start["tools"] or []]))
        if log.held:
            log.flush_held()
        if answer is None or type(answer) is Reply:
            episode.end({"type": "answer", "reply": None if answer is None else answer._ref})
        line = getattr(getattr(run, "__code__", None), "co_firstlineno", 0)
        episode.end({"type": "failure", "reason": "answer:foreign", "detail": _type_of_answer(answer), "line": line})
    except BaseException as e:  # SystemExit, KeyboardInterrupt and what a program derives from BaseException are its failures too
        ballast.clear()
        detail, line = _describe(e, program)
        if isinstance(e, MemoryError):  # it may be the machine's fault: the host repeats the episode alone
            _os.write(2, f"{program}:{line}: MemoryError\n".encode())
            _os._exit(OUT_OF_MEMORY)
        del e
        if log.held:
            log.flush_held()
        episode.end({"type": "failure", "detail": _clean(detail), "line": line})


if __name__ == "__main__":
    if len(_sys.argv) != 2 or _sys.stdin is None or _sys.stdin.isatty():
        _sys.exit("usage: a host starts `python3 whale.py harness.py`; people start `whale harness run harness.py`")
    _main(_sys.argv[1])
