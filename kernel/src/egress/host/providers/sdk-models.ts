import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
import type { SdkApi } from "./sdk-apis.ts";

type Fetch = typeof globalThis.fetch;

interface SdkModel {
  readonly model: LanguageModelV4;
  /** The current attempt's; null while no attempt uses the model. */
  fetch: Fetch | null;
}

const maxKept = 16;
/** The SDKs write this in place of the key, so that no SDK sees a key and no key outlives its request. */
const standIn = `key-${crypto.randomUUID()}`;

/** Models that no attempt uses, the least recently used first: making one takes as long as reading an answer. */
const kept = new Map<string, SdkModel>();

/** Lets one attempt use a model of an SDK; its only request is sent with `fetch`, and with the key. */
export async function lendSdkModel(
  api: SdkApi,
  {
    provider,
    name,
    key,
  }: { readonly provider: ProviderSettings; readonly name: string; readonly key: string | null },
  fetch: Fetch,
): Promise<SdkModelLease> {
  const hasKey = key !== null && key !== "";
  const id = JSON.stringify([provider.api, provider.baseUrl, name, hasKey]);
  const known = kept.get(id);
  kept.delete(id);
  const used = known ?? (await newModel(api, provider.baseUrl ?? "", name, hasKey));
  used.fetch = (input, init) =>
    fetch(input, hasKey ? { ...init, headers: withKey(init?.headers, key) } : init);
  return {
    model: used.model,
    keep() {
      used.fetch = null;
      kept.set(id, used);
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break;
        kept.delete(oldest);
      }
    },
  };
}

interface SdkModelLease {
  readonly model: LanguageModelV4;
  /** Keeps the model for another attempt, after this one has ended; without that it is dropped. */
  keep(): void;
}

async function newModel(api: SdkApi, baseURL: string, name: string, hasKey: boolean): Promise<SdkModel> {
  const made: { fetch: Fetch | null } = { fetch: null };
  const fetch: Fetch = (input, init) => {
    if (made.fetch === null) throw new Error("A model was asked that no attempt uses.");
    return made.fetch(input, init);
  };
  const model = await api.load({ baseURL, apiKey: hasKey ? standIn : "", fetch }, name);
  return Object.assign(made, { model });
}

function withKey(given: ConstructorParameters<typeof Headers>[0], key: string): Headers {
  const headers = new Headers(given);
  for (const [name, value] of headers)
    if (value.includes(standIn))
      headers.set(
        name,
        value.replaceAll(standIn, () => key),
      );
  return headers;
}
