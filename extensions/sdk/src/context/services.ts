import { LaresError } from "../errors.ts";
import type { Action } from "../types/action.ts";
import type { Actions, AgentContext, ToolCallOptions, Trace } from "../types/context.ts";
import { type Kernel, withSignal } from "./kernel.ts";

type Services = Pick<
  AgentContext,
  "actions" | "agents" | "jobs" | "tools" | "events" | "shared" | "trace" | "notify"
>;

type CallResult =
  | { readonly status: "success"; readonly value?: unknown }
  | { readonly status: "error"; readonly message: string; readonly recoverable: boolean }
  | { readonly status: "needs_approval"; readonly action: Action; readonly reason: string };

export function makeServices(kernel: Kernel): Services {
  return {
    actions: makeActions(kernel),
    trace: makeTrace(kernel),
    jobs: {
      dispatch: async (name, input, { priority, whenIdle, key } = {}) => {
        const params = { name, input: input ?? null, priority, when_idle: whenIdle, key };
        return (await kernel.call("jobs/dispatch", params)).id;
      },
    },
    tools: {
      call: async <Value>(
        tool: string,
        args: Readonly<Record<string, unknown>> = {},
        { key, signal, deadlineMs }: ToolCallOptions = {},
      ): Promise<Value> => {
        const slash = tool.indexOf("/");
        if (slash < 1)
          throw new LaresError(
            "InvalidParams",
            `"${tool}" is not the name of a tool. Write "agent.id/tool".`,
          );
        const params = {
          agent: tool.slice(0, slash),
          name: tool.slice(slash + 1),
          arguments: args,
          key,
          deadline_ms: deadlineMs,
        };
        const result = await kernel.call("tools/call", params, withSignal(signal));
        return valueOf(tool, result) as Value;
      },
    },
    agents: { list: async () => (await kernel.call("agents/list", {})).agents },
    events: {
      emit: async (name, data) => void (await kernel.call("events/emit", { name, data: data ?? null })),
    },
    shared: {
      // The author names the type of the value.
      read: (async (key) => kernel.call("shared/read", { key })) as AgentContext["shared"]["read"],
      write: async (key, value, { version } = {}) =>
        void (await kernel.call("shared/write", { key, value: value ?? null, version })),
    },
    notify: async (title, message, { severity = "info", action } = {}) =>
      void (await kernel.call("notify", { title, message, severity, action })),
  };
}

function makeActions(kernel: Kernel): Actions {
  return {
    preview: (effects, { title, reason }) => kernel.call("actions/preview", { effects, title, reason }),
    propose: (effects, { title, reason }, { supersedes, key } = {}) =>
      kernel.call("actions/propose", { effects, title, reason, supersedes, key }),
    get: (id) => kernel.call("actions/get", { id }),
    settled: (id, options) => kernel.call("actions/settled", { id }, options),
    withdraw: (id) => kernel.call("actions/withdraw", { id }),
  };
}

function makeTrace(kernel: Kernel): Trace {
  const at = (level: keyof Trace): Trace[keyof Trace] => {
    return (message, fields) => kernel.notify("trace", { level, message: String(message), fields });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function valueOf(tool: string, result: CallResult): unknown {
  switch (result.status) {
    case "success":
      return result.value;
    case "error":
      throw new LaresError("ToolError", result.message, { tool, recoverable: result.recoverable });
    case "needs_approval":
      throw new LaresError("ToolError", `${tool} waits for approval: ${result.reason}`, {
        tool,
        recoverable: true,
        action: result.action,
      });
  }
}
