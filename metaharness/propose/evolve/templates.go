package evolve

// The names of what techniques add to programs.
const (
	converseName = "converse"
	focusName    = "focus"
	presentName  = "present"
	lookupName   = "lookup"
)

// finished are the templates in whose bodies nothing is edited.
var finished = []string{converseName, focusName, presentName}

// focusSource finds what a text is about.
const focusSource = `OPENERS = ["A", "An", "The", "In", "On", "At", "Who", "Whom", "Whose", "What", "Which", "When", "Where", "Why", "How", "Is", "Was", "Are", "Were", "Did", "Does", "Do"]

def focus(words):
    """Gives the names in a text: its runs of capitalised words. A text without any stays as it is."""
    names = re.findall(r"[A-Z][\w'-]*(?: (?:of |the |and )*[A-Z][\w'-]*)*", words)
    return " ".join([n for n in names if n not in OPENERS]) or words
`

// presentSource shows some paragraphs of a result; %d is how many.
const presentSource = `SHOWN = %d  # paragraphs

def present(result):
    """Gives the first paragraphs of a result. Those that hold a question come last, for they do not answer one."""
    if type(result) == "string" or result.error or not result.text:
        return loop.observe(result)
    parts = [part for part in result.text.split("\n") if part.strip()]
    told = [part for part in parts if "?" not in part]
    asked = [part for part in parts if "?" in part]
    return "\n".join((told + asked)[:SHOWN])
`

// lookupSource asks a tool in the task's words: %s are the tool, its argument, the task's field and further arguments.
const lookupSource = `def lookup(task, env):
    """Gives what the tool says of the names in the task."""
    if env.left.tool_calls < 1:
        return ""
    return present(env.call("%s", %s = focus(task.%s)%s))
`

// converseSource is an agent loop like loop.run that asks again, and for the right thing.
const converseSource = `def converse(task, model, env, system = "", user = "{question}", turns = 8, act = loop.tools, observe = loop.observe,
             done = None, nudge = "", nudges = 4, first = "", final = "", max_tokens = None, stop = [], tools = [], keep = None):
    """Lets the model speak until a reply is done. A reply that calls no tool and is not done is answered by a request: by first as long as
    no tool was called, else by nudge. The answer is the last reply that was done, if any was."""
    opening = [chat.system(system)] if system else []
    opening.append(chat.user(text.fill(user, task)))
    rounds = []
    reply, best = None, None
    used = not first
    for turn in range(turns):
        left = env.left
        if left.model_calls < 1 or left.tokens < 1:
            break
        shown = rounds if keep == None else rounds[-keep:]
        messages = opening + [message for part in shown for message in part]
        if final and (turn == turns - 1 or left.model_calls == 1):
            messages.append(chat.user(final))
        reply = model.chat(messages, tools = tools, max_tokens = max_tokens, stop = stop)
        results = act(reply, env) if env.left.tool_calls > 0 else None
        if results != None:
            used = True
            results = results if type(results) in ("list", "tuple") else [results]
            rounds.append([reply] + [chat.tool(observe(r)) for r in results])
            if any([type(r) != "string" and r.done for r in results]):
                return reply
            continue
        fine = not done or done(reply)
        if fine:
            best = reply
        ask = nudge if used else first
        if used and fine or not ask or nudges < 1:
            break
        nudges -= 1
        rounds.append([reply, chat.user(ask)])
    return reply if best == None else best
`
