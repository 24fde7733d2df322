package star

import (
	"go.starlark.net/starlark"

	whale "github.com/seed-095d5d2b/whale"
)

func chatEntries() []entry {
	content := Param{Name: "content", Type: TypeString, Doc: "the message's text"}
	builder := func(role, doc string, params ...Param) entry {
		return entry{
			Function: Function{Module: "chat", Name: role, Returns: TypeDict, Doc: doc, Params: params},
			run: func(c *call) (starlark.Value, error) {
				d := starlark.NewDict(3)
				fields := []starlark.String{"role", starlark.String(role), "content", starlark.String(c.string("content"))}
				if role == whale.RoleTool && c.string("name") != "" {
					fields = append(fields, "name", starlark.String(c.string("name")))
				}
				for i := 0; i < len(fields); i += 2 {
					if err := d.SetKey(fields[i], fields[i+1]); err != nil {
						return nil, err
					}
				}
				return d, nil
			},
		}
	}
	return []entry{
		builder(whale.RoleSystem, "Makes a system message.", content),
		builder(whale.RoleUser, "Makes a user message.", content),
		builder(whale.RoleAssistant,
			"Makes an assistant message of the harness's own words. To show the model its own reply, put the reply itself into the list.", content),
		builder(whale.RoleTool, "Makes a message that shows a tool's result.", content,
			Param{Name: "name", Type: TypeString, Default: `""`, Doc: "the tool's name, where the model is to see it"}),
	}
}
