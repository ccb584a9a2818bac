from harness2_core import api


@api.hookimpl
def harness2_substrates() -> list[api.Provider[api.Substrate]]:
    return [
        api.Provider(
            "shell",
            "the harness is a shell script",
            "shellwork.agent:ShellAgent",
            "shellwork.agent:ShellSettings",
        )
    ]


@api.hookimpl
def harness2_selectors() -> list[api.Provider[api.Selector]]:
    return [api.Provider("shortest", "the final that says it in the fewest characters", "shellwork.shortest:Shortest")]
