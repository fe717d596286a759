import { isLaresError, messageOf } from "../../base/errors.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { KernelClient } from "../kernel-client.ts";

export type ApprovalMode = "policy" | "none" | "all" | "ask";

export type Answer =
  | { readonly decide: "approve" | "later" }
  /** Approve, and remember these rules, which are those of one of the action's scopes. */
  | { readonly decide: "always"; readonly rules: readonly RememberedRule[] }
  | { readonly decide: "reject"; readonly reason?: string }
  /** The person wants to end the run. */
  | { readonly decide: "quit" };

interface ApprovalPorts {
  readonly kernel: Pick<KernelClient, "action" | "approve" | "reject">;
  /** Shows the proposal and waits for the answer; `waiting` more are queued after it. */
  ask(action: Action, waiting: number): Promise<Answer>;
  remark(text: string): void;
  quit(): void;
}

/**
 * Asks about proposals one after the other, in the order of arrival. In the modes "policy" and "none" they stay
 * pending; the kernel has already committed what the workspace's own rules allow.
 */
export class Approvals {
  readonly #mode: ApprovalMode;
  readonly #ports: ApprovalPorts;
  readonly #queue: string[] = [];
  readonly #seen = new Set<string>();
  #working: Promise<void> | null = null;
  #ended = false;

  constructor(mode: ApprovalMode, ports: ApprovalPorts) {
    this.#mode = mode;
    this.#ports = ports;
  }

  get isBusy(): boolean {
    return this.#working !== null;
  }

  /** Called when an action is new or has changed. */
  offer(action: Pick<Action, "id" | "state">): void {
    if (this.#mode === "policy" || this.#mode === "none" || this.#ended) return;
    if (action.state !== "PendingApproval") {
      // Decided elsewhere, in an editor or by expiry, so the question is dropped here.
      const place = this.#queue.indexOf(action.id);
      if (place !== -1) this.#queue.splice(place, 1);
      return;
    }
    if (this.#seen.has(action.id)) return;
    this.#seen.add(action.id);
    this.#queue.push(action.id);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing is queued or being asked. */
  async settled(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  /** Drops all questions that are not asked yet. */
  end(): void {
    this.#ended = true;
    this.#queue.length = 0;
  }

  async #work(): Promise<void> {
    // Deferred, so that proposals that arrive together are queued before the first is asked.
    await Promise.resolve();
    try {
      for (let id = this.#queue.shift(); id !== undefined; id = this.#queue.shift()) await this.#decide(id);
    } finally {
      this.#working = null;
    }
  }

  async #decide(id: string): Promise<void> {
    try {
      const action = await this.#ports.kernel.action(id);
      if (action.state !== "PendingApproval") return;
      const answer: Answer =
        this.#mode === "all" ? { decide: "approve" } : await this.#ports.ask(action, this.#queue.length);
      switch (answer.decide) {
        case "approve":
        case "always":
          await this.#ports.kernel.approve(id, {
            digest: action.digest,
            ...(answer.decide === "always"
              ? { remember: "always", rules: answer.rules }
              : { remember: "once" }),
          });
          break;
        case "reject":
          await this.#ports.kernel.reject(id, answer.reason);
          break;
        case "later":
          break;
        case "quit":
          this.end();
          this.#ports.quit();
          break;
      }
    } catch (error) {
      // One proposal that cannot be decided does not keep the next from being asked.
      if (this.#ended) return;
      if (!isLaresError(error)) throw error;
      this.#ports.remark(`That proposal could not be decided: ${messageOf(error)}`);
    }
  }
}
