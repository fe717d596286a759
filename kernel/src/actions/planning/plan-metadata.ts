import { invalidParams, notFound } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { HashedValue } from "../content-requests.ts";
import { entryPath } from "./inputs.ts";
import { changeOf, currentValue, fieldsOf, slotOf, type MetadataInput } from "../metadata.ts";
import { valueOf } from "../operations.ts";
import type { PlanContext } from "./plan-context.ts";
import type { PlannedEffect } from "../plan.ts";
import { withValueStored } from "../values.ts";

/** Plans changes of tags, fields and sidecars. */
export class MetadataPlanner {
  readonly #context: PlanContext;
  /** The metadata that earlier effects leave, by slot. */
  readonly #slots = new Map<string, { readonly hash: Hash | null; readonly effect: number }>();

  constructor(context: PlanContext) {
    this.#context = context;
  }

  async plan(input: MetadataInput, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#context.checkSees("file or folder", path);
    const known = await this.#context.overlay.at(path);
    if (known.node.kind === "absent") throw notFound("file or folder", path);
    if (this.#context.overlay.changesIdentity(path)) {
      throw invalidParams(
        `Another effect of this action creates or moves ${JSON.stringify(path)}. Propose ${input.kind} after this action is committed.`,
        { path },
      );
    }
    const change = changeOf(path, input);
    const slot = slotOf(change);
    const earlier = this.#slots.get(slot);
    const before =
      earlier === undefined
        ? ((await this.#hashed(await currentValue(this.#context.ports.metadata, change)))?.hash ?? null)
        : earlier.hash;
    const { hash: after, content } = (await this.#hashed(valueOf(change))) ?? { hash: null, content: null };
    this.#slots.set(slot, { hash: after, effect: index });
    if (content !== null && after !== null) this.#context.contents.keep(after, content);
    const operation = { do: "metadata" as const, change, before, after };
    const { value, ...rest } = fieldsOf(input);
    return {
      effect: {
        kind: input.kind,
        path,
        before,
        after,
        ...rest,
        ...(value === undefined || content !== null ? {} : { value }),
      },
      operation: content === null ? operation : withValueStored(operation),
      dependsOn: earlier === undefined ? [] : [earlier.effect],
      facts: { kind: "metadata" },
      subject: this.#context.subjects.of(input.kind, [path]),
    };
  }

  async #hashed(value: JsonValue | undefined): Promise<HashedValue | null> {
    return value === undefined ? null : this.#context.ports.contents.value(value, this.#context.budget);
  }
}
