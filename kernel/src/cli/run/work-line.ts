import type { WorkDone } from "../kernel-client.ts";

interface Work {
  readonly title: string;
  readonly at: string;
}

/** Describes long work in progress on one line. */
export class WorkLine {
  readonly #underWay = new Map<string, Work>();

  update({ token, value }: WorkDone): void {
    if (value.kind === "end") this.#underWay.delete(token);
    else if (value.kind === "begin")
      this.#underWay.set(token, { title: value.title.replace(/^Lares: /, ""), at: "" });
    else {
      const work = this.#underWay.get(token);
      if (work !== undefined) this.#underWay.set(token, { ...work, at: placeOf(value) });
    }
  }

  /** The newest work with its progress, and the number of others; null if there is none. */
  get text(): string | null {
    const newest = [...this.#underWay.values()].at(-1);
    if (newest === undefined) return null;
    const more = this.#underWay.size - 1;
    return `${newest.title}${newest.at}${more === 0 ? "" : `, and ${more} more`}`;
  }
}

function placeOf({ percentage, message }: { percentage?: number; message?: string }): string {
  const share = percentage === undefined ? [] : [`${percentage} %`];
  const words = message === undefined || message === share[0] ? [] : [message];
  const parts = [...share, ...words];
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}
