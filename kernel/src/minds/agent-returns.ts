import type { Entry } from "../base/vocabulary/conversation.ts";

/**
 * Conversations whose channel failed because their agent was not there, such as while the folder with its manifest was away.
 * What was sent to them was accepted, so they continue once the agent is back.
 */
export class AgentReturns {
  /** The agents by their conversations. */
  readonly #waiting = new Map<string, string>();
  /** Conversations whose agent came back before the failure was written. They continue once, and not again before a request. */
  readonly #early = new Set<string>();

  /**
   * Takes new entries of a conversation. `hasMind`: whether somebody can answer in it now. Returns true if one is ready that
   * nobody will announce.
   */
  take(conversation: string, agent: string, entries: readonly Entry[], hasMind: () => boolean): boolean {
    let isReady = false;
    for (const entry of entries) {
      if (entry.kind === "request") this.#early.delete(conversation);
      const isArchived = entry.kind === "meta" && entry.state === "archived";
      const isOfChannel = entry.kind === "process" && entry.value.kind === "channel";
      // In each new state the channel has read the waiting messages.
      if (isArchived || isOfChannel) this.#waiting.delete(conversation);
      if (!isOfChannel) continue;
      const { state, error } = entry.value;
      if (state !== "Failed" || error?.code !== "AgentError") continue;
      const isEarly = hasMind();
      if (isEarly && this.#early.has(conversation)) continue;
      if (isEarly) this.#early.add(conversation);
      isReady ||= isEarly;
      this.#waiting.set(conversation, agent);
    }
    return isReady;
  }

  /** Returns the conversations that wait for an agent that is there now, once each. */
  ready(hasMind: (agent: string) => boolean): string[] {
    const ready = [...this.#waiting].flatMap(([conversation, agent]) => (hasMind(agent) ? conversation : []));
    for (const conversation of ready) this.#waiting.delete(conversation);
    return ready;
  }
}
