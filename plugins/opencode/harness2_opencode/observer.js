// A plugin of OpenCode that tells what `opencode run --format json` leaves out, as lines of the same stream:
// the model, plugins of the harness that do not load, calls of tools that began, what sub-agents do and use, and waits
// for the provider.
// It ends a run that has had its steps, and one that the provider would keep waiting for long.
// It changes nothing that a model sees.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const tell = (type, more) => process.stdout.write(JSON.stringify({ type: `harness2.${type}`, ...more }) + "\n")

const FINISHED = {
  "step-finish": () => "step_finish",
  text: (part) => part.time?.end && "text",
  reasoning: (part) => part.time?.end && "reasoning",
  tool: (part) => ["completed", "error"].includes(part.state?.status) && "tool_use",
}

export default async ({ client }, { model, steps, patience_ms, plugins, log }) => {
  const agents = new Map() // session of a sub-agent -> its name
  const told = new Set()
  let main, ended
  let asked = 0 // requests that were begun, without repeats

  tell("began", { model })
  for (const path of plugins) {
    try {
      await import(pathToFileURL(path).href)
    } catch (error) {
      tell("plugin_failed", { plugin: path, error: String(error) })
      told.add(path)
    }
  }

  const end = (type, more) => {
    if (ended) return
    ended = true
    tell(type, more)
    // Not awaited: it waits for what asks for it.
    client.session.abort({ path: { id: main } })
  }

  const logged = () => {
    let text = ""
    try {
      text = readFileSync(log, "utf8")
    } catch {}
    for (const path of plugins) {
      const line = text.split("\n").find((line) => line.includes("failed to load plugin") && line.includes(path))
      if (line && !told.has(path)) {
        told.add(path)
        tell("plugin_failed", { plugin: path, error: line.slice(line.indexOf("error=") + 6) })
      }
    }
  }

  const seen = {
    "session.created": ({ info }) => {
      if (info.parentID) agents.set(info.id, info.agent ?? "")
      else {
        main ??= info.id
        logged()
      }
    },
    "message.updated": ({ info }) => {
      if (agents.has(info.sessionID) && info.agent) agents.set(info.sessionID, info.agent)
    },
    "message.part.updated": ({ part }) => {
      if (part.type === "tool" && part.state.status === "running" && !told.has(part.callID)) {
        told.add(part.callID)
        tell("running", { agent: agents.get(part.sessionID), part })
      }
      const event = agents.has(part.sessionID) && FINISHED[part.type]?.(part)
      if (!event || told.has(part.id)) return
      told.add(part.id)
      tell("sub_agent", { event, agent: agents.get(part.sessionID), sessionID: part.sessionID, part })
    },
    "session.error": ({ sessionID, error }) => {
      if (agents.has(sessionID) && !ended) tell("sub_agent", { event: "error", agent: agents.get(sessionID), sessionID, error })
    },
    "session.status": ({ sessionID, status }) => {
      if (status.type === "idle" && sessionID === main) logged()
      if (status.type !== "retry") return
      asked--
      const wait_ms = Math.max(0, status.next - Date.now())
      const more = { sessionID, attempt: status.attempt, message: status.message, wait_ms, at: Date.now() }
      if (wait_ms > patience_ms) end("gave_up", more)
      else tell("retry", more)
    },
  }

  return {
    event: async ({ event }) => seen[event.type]?.(event.properties),
    "chat.params": async () => {
      asked++
      if (!steps || asked <= steps) return
      end("out_of_steps", { steps })
      await new Promise(() => {}) // the request is never sent
    },
  }
}
