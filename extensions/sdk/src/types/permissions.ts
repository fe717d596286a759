/** An agent's permissions: requested by its manifest, granted, and not denied. Absent: not permitted. */
export interface Permissions {
  readonly read_entries?: boolean | { readonly filter?: string };
  readonly write_sidecars?: { readonly kinds: readonly string[] };
  readonly write_tags?: boolean;
  readonly write_custom_fields?: { readonly namespace: string };
  readonly use_models?: readonly { readonly category: string; readonly local_only?: boolean }[];
  /** Names of secrets that it may send to the hosts that they are bound to. */
  readonly use_credentials?: readonly string[];
  readonly dispatch_jobs?: boolean;
  readonly propose_actions?: readonly string[];
  readonly emit_events?: readonly string[];
  /** Events of other extensions that the agent may receive: `publisher.id/EventName` or `publisher.id/*`. */
  readonly hear_events?: readonly string[];
  readonly call_tools?: readonly string[];
  readonly shared_data?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** Types of other extensions: `extension.id/Type` or `extension.id/*`. */
  readonly shared_types?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** Sees which agents there are and whether they work. */
  readonly see_agents?: boolean;
  /** Ids of agents: it hears, cancels or changes what a person says to them, and what they do, before it happens. */
  readonly intercept?: readonly string[];
}
