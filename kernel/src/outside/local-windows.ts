import { neverAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { LanguageModelClient } from "../inference/client/language-models.ts";
import { parseModelReference } from "../models/reference.ts";
import { filesOf } from "./local-models.ts";

/** A file that could not be read is looked at again only after this time: conversations ask often. */
const retryMs = 10_000;

/** The windows of this machine's models, which only their files know. */
export class LocalWindows {
  readonly #client: Pick<LanguageModelClient, "inspect">;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly window: Promise<number | null>; readonly atMs: number }>();

  constructor(client: Pick<LanguageModelClient, "inspect">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns the number of tokens that a model will read when it runs: the document's number, but at most the number that
   * the model was trained with. Null if neither is known, or if the file cannot be read, which the answer reports.
   */
  async of(provider: ProviderSettings, reference: string): Promise<number | null> {
    const model = filesOf(provider, parseModelReference(reference)?.model ?? "");
    if (model === null) return null;
    const asked = provider.contextTokens ?? null;
    const key = JSON.stringify([model.files, asked]);
    const nowMs = this.#clock.monotonic();
    const known = this.#known.get(key);
    const isOld = known !== undefined && nowMs - known.atMs >= retryMs;
    if (known !== undefined && !(isOld && (await known.window) === null)) return await known.window;
    const window = this.#client.inspect(model, asked, neverAborted).then(
      ({ contextTokens }) => contextTokens,
      () => null,
    );
    this.#known.set(key, { window, atMs: nowMs });
    return await window;
  }
}
