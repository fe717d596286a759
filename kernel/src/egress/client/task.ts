import type { ModelEvent, ModelFailure } from "../../base/vocabulary/model.ts";
import type { ListedModel } from "../../models/directory.ts";
import { modelError } from "../../models/failure-error.ts";
import type { EgressFailure } from "../messages.ts";
import { EgressError, type EgressRequest } from "./answer.ts";
import type { EgressClient } from "./egress-client.ts";

/** Yields the values that the host writes for a task, one on each line. Throws EgressError. */
async function* valuesOf(client: EgressClient, request: EgressRequest): AsyncGenerator<unknown, void> {
  const { body } = await client.request(request);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    // A long line arrives in many pieces; only the last one is searched for its end.
    if (!text.includes("\n")) {
      rest += text;
      continue;
    }
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Makes one attempt at a provider. Ends with `done` or `failed`; never throws for what happens outside of Lares. */
export async function* streamFromProvider(
  client: EgressClient,
  request: EgressRequest,
): AsyncGenerator<ModelEvent, void> {
  let isSent = false;
  try {
    for await (const value of valuesOf(client, request)) {
      // The host writes nothing else.
      const event = value as ModelEvent;
      if (event.type === "sent" && isSent) continue;
      isSent ||= event.type === "sent";
      yield event;
      if (event.type === "done" || event.type === "failed") return;
    }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // The host died or was cut off: the request may have been paid for.
    if (error.failure.mayHaveLeft && !isSent) yield { type: "sent" };
    return yield { type: "failed", failure: failureOf(error.failure, error.message) };
  }
  yield { type: "failed", failure: { class: "Network", message: "The answer did not end." } };
}

/** Returns the models that a provider lists. Throws EgressError; ModelError for what the provider answered instead. */
export async function listFromProvider(
  client: EgressClient,
  request: EgressRequest,
): Promise<readonly ListedModel[]> {
  for await (const value of valuesOf(client, request)) {
    // The host writes nothing else.
    const answer = value as readonly ListedModel[] | Extract<ModelEvent, { type: "failed" }>;
    if ("failure" in answer) throw modelError(answer.failure, "");
    return answer;
  }
  return [];
}

function failureOf(failure: EgressFailure, message: string): ModelFailure {
  switch (failure.class) {
    case "Network":
    case "Timeout":
    case "Cancelled":
      return { class: failure.class, message };
    // Sending it again would not help.
    case "Denied":
    case "Leak":
      return { class: "InvalidRequest", message };
  }
}
