import type { DeepReadonly } from "../base/deep-readonly.ts";
import type { ModelsListing, ModelTestResult } from "../base/vocabulary/model-listing.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { SecretItem } from "../base/vocabulary/secret.ts";
import type { UsageGroup, UsageGrouping } from "../base/vocabulary/usage.ts";

/** The language models of the person's settings. */
export interface ModelService {
  /** Asks the network only with `refresh`. */
  list(refresh: boolean, signal: AbortSignal): Promise<DeepReadonly<ModelsListing>>;
  /** Sends a short request, which counts as usage. Throws BudgetExceeded. */
  test(model: string, signal: AbortSignal): Promise<ModelTestResult>;
}

/** What models used, in all workspaces of this user. */
export interface UsageService {
  /** InvalidParams for a time that cannot be parsed. */
  sums(query: {
    readonly since?: string;
    readonly until?: string;
    readonly groupBy?: UsageGrouping;
  }): Promise<readonly UsageGroup[]>;
}

/** The user's secrets. No method returns a value. */
export interface SecretService {
  list(): Promise<DeepReadonly<SecretItem[]>>;
  /** Throws InvalidParams if no secret can have this name, these hosts or this place. */
  check(name: string, hosts: readonly string[], place?: string): void;
  /** PermissionDenied unless a person asks; likewise `remove`. */
  set(
    by: Principal,
    name: string,
    value: string,
    hosts: readonly string[],
    place?: string,
  ): Promise<SecretItem>;
  /** NotFound. */
  remove(by: Principal, name: string): Promise<void>;
}
