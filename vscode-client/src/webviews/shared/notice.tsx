import type { ComponentChildren, VNode } from "preact";
import { AgentNames } from "./agent-name.tsx";
import type { Contract } from "./channel.ts";
import type { Asked } from "./hooks.ts";
import type { Host } from "./host.ts";
import type { commonPushes, commonRequests, NoticeCommand, CommonState } from "./common-state.ts";
import { line } from "./text.ts";

interface NoticeProps {
  readonly kind?: "info" | "error" | "busy";
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** Says, instead of a view's content or above it, what is wrong and what can be done. */
export function Notice({ kind = "info", title, children }: NoticeProps): VNode {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {kind === "busy" && <div class="progress" aria-hidden="true" />}
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}

interface FailedProps {
  readonly message: string;
  readonly again?: () => void;
}

/** Shows why a request failed. */
export function Failed({ message, again }: FailedProps): VNode {
  return (
    <Notice kind="error">
      <p>{line(message, 1_000)}</p>
      {again !== undefined && (
        <button type="button" class="secondary" onClick={again}>
          Try Again
        </button>
      )}
    </Notice>
  );
}

interface PendingProps {
  readonly asked: Exclude<Asked<unknown>, { readonly kind: "ready" }>;
  readonly again: () => void;
}

/** Shows that a request has no result yet, or why it failed. */
export function Pending({ asked, again }: PendingProps): VNode {
  return asked.kind === "loading" ? (
    <Notice kind="busy" title="Loading…" />
  ) : (
    <Failed message={asked.message} again={again} />
  );
}

interface CommonContract extends Contract {
  readonly requests: typeof commonRequests;
  readonly pushes: typeof commonPushes;
}

interface KernelNoticeProps {
  readonly host: Host<CommonContract>;
  readonly commonState: CommonState | undefined;
  readonly children?: ComponentChildren;
}

/** A view's content, or a notice in its place while the kernel cannot answer; no requests are sent meanwhile. */
export function WhileRunning({ host, commonState, children }: KernelNoticeProps): VNode {
  const offer = (command: NoticeCommand, label: string, kind: "primary" | "secondary"): VNode => (
    <button
      type="button"
      class={kind}
      // The editor itself shows the error.
      onClick={() => void host.ask("command", { command }).catch(() => undefined)}
    >
      {label}
    </button>
  );
  if (commonState === undefined) return <Notice kind="busy" title="Loading…" />;
  const { kernel, agents } = commonState;
  switch (kernel.kind) {
    case "running":
      return (
        <AgentNames.Provider value={new Map(agents.map(({ id, name }) => [id, name]))}>
          {children}
        </AgentNames.Provider>
      );
    case "starting":
      return <Notice kind="busy" title="The kernel is starting…" />;
    case "restarting":
      return (
        <Notice kind="busy" title="The kernel is being restarted…">
          <p>{line(kernel.reason, 600)}</p>
          <p class="quiet">Approvals, memory and traces are kept.</p>
          {offer("showKernelLog", "Show Log", "secondary")}
        </Notice>
      );
    case "silent":
      return (
        <Notice kind="error" title="The kernel does not answer.">
          <p>{line(kernel.reason, 600)}</p>
          <p class="quiet">Approvals, memory and traces are kept.</p>
          {offer("restartKernel", "Restart Kernel", "primary")}
          {offer("showKernelLog", "Show Log", "secondary")}
        </Notice>
      );
    case "failed":
      return (
        <Notice kind="error" title="The kernel is not running.">
          <p>{line(kernel.reason, 600)}</p>
          {offer("restartKernel", "Restart Kernel", "primary")}
          {offer("showKernelLog", "Show Log", "secondary")}
        </Notice>
      );
    case "untrusted":
      return kernel.by === "editor" ? (
        <Notice title="This folder is in Restricted Mode.">
          <p>The editor does not trust it yet, so no agent runs. Documents are still checked.</p>
          {offer("manageTrust", "Manage Workspace Trust", "primary")}
        </Notice>
      ) : (
        <Notice title="Agents here need your permission.">
          <p>No agent runs until you choose what agents may do in this folder.</p>
          {offer("reviewAsks", "Choose What Agents May Do…", "primary")}
        </Notice>
      );
  }
}
