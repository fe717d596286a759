import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { count, counted } from "../shared/format.ts";
import { failureOf, useAsked } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Icon, type IconName } from "../shared/icon.tsx";
import { pageLabel } from "../shared/label.ts";
import { Notice, Pending } from "../shared/notice.tsx";
import { line } from "../shared/text.ts";
import type { Catalog, Model, Provider, TestOutcome, UsageContract } from "./messages.ts";
import { briefly, dollars } from "./sums.ts";

interface Props {
  readonly host: Host<UsageContract>;
}

/** The providers and their models, and which of them does what. */
export function Models({ host }: Props): VNode {
  const [refresh, setRefresh] = useState(false);
  const { asked, again } = useAsked(host, "catalog", { refresh });
  const [isAsking, setAsking] = useState(false);
  const busy = isAsking || asked.kind === "loading" || (asked.kind === "ready" && asked.stale);
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  return (
    <CatalogPage
      host={host}
      catalog={asked.value}
      isBusy={busy}
      onRefresh={() => {
        if (refresh) again();
        else setRefresh(true);
      }}
      onStoreSecret={() => {
        setAsking(true);
        // The editor itself shows the error.
        host
          .ask("storeSecret", {})
          .catch(() => undefined)
          .finally(() => {
            setAsking(false);
            again();
          });
      }}
    />
  );
}

interface CatalogProps extends Props {
  readonly catalog: Catalog;
  readonly isBusy: boolean;
  onRefresh(): void;
  onStoreSecret(): void;
}

export function CatalogPage({ host, catalog, isBusy, onRefresh, onStoreSecret }: CatalogProps): VNode {
  const { providers, moreProviders, roles } = catalog;
  return (
    <section class="models" aria-label="Models" aria-busy={isBusy}>
      <header class="head">
        <h1>Models</h1>
        <span class="choices">
          <button type="button" class="secondary" disabled={isBusy} onClick={onStoreSecret}>
            Store a Key…
          </button>
          <button
            type="button"
            class="secondary"
            disabled={isBusy}
            title="Asks each provider which models it has"
            onClick={onRefresh}
          >
            {isBusy ? "Asking…" : "Ask the Providers"}
          </button>
        </span>
      </header>
      {providers.length === 0 ? (
        <Notice title="No language model is set up.">
          <p>
            Store a key for anthropic, openai or google, run a model with Ollama on this machine, or name a
            provider under <code>models:</code> in your own lares.yaml.
          </p>
        </Notice>
      ) : (
        <>
          <Roles host={host} roles={roles} />
          {providers.map((provider) => (
            <ProviderPart key={provider.id} host={host} provider={provider} />
          ))}
          {moreProviders > 0 && <p class="quiet">and {counted(moreProviders, "more provider")}</p>}
        </>
      )}
    </section>
  );
}

function Roles({ host, roles }: Props & Pick<Catalog, "roles">): VNode | null {
  if (roles.length === 0) return null;
  return (
    <section aria-label="Which model does what">
      <h2>Which model does what</h2>
      <ul class="roles">
        {roles.map(({ name, model }) => (
          <li key={name}>
            <span class="role">
              <bdi>{pageLabel(name)}</bdi>
              {name === "default" && <span class="quiet"> what no other line names</span>}
            </span>
            <bdi class="mono">{pageLabel(model)}</bdi>
            <Test host={host} model={model} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const states: Readonly<
  Record<Provider["state"], { readonly words: string; readonly icon: IconName; readonly class: string }>
> = {
  ready: { words: "ready", icon: "pass", class: "good" },
  no_key: { words: "no key", icon: "off", class: "warn" },
  unreachable: { words: "does not answer", icon: "error", class: "bad" },
  unknown: { words: "not asked yet", icon: "circle", class: "" },
};

function whereOf({ api, isLocal }: Provider): string {
  if (isLocal) return "on this machine";
  return api === "editor" ? "through the editor" : "over the network";
}

function ProviderPart({ host, provider }: Props & { readonly provider: Provider }): VNode {
  const { id, api, state, foundBy, models, more } = provider;
  const { words, icon, class: className } = states[state];
  const isUsed = models.some(({ roles }) => roles.length > 0);
  return (
    <details class="provider" open={isUsed}>
      <summary>
        <Icon name={icon} class={className} /> <bdi class="name">{pageLabel(id)}</bdi>{" "}
        <span class="quiet">
          {[
            words,
            pageLabel(api),
            whereOf(provider),
            ...(models.length === 0 ? [] : [counted(models.length + more, "model")]),
          ].join(" · ")}
          {foundBy !== undefined && (
            <>
              {" · found by "}
              <bdi>{line(foundBy, 200)}</bdi>
            </>
          )}
        </span>
      </summary>
      {models.length === 0 ? (
        <p class="quiet">
          {state === "no_key"
            ? "Its key is not stored. “Store a Key…” does that."
            : "It was not asked which models it has. “Ask the Providers” does that."}
        </p>
      ) : (
        <ModelTable host={host} models={models} more={more} />
      )}
    </details>
  );
}

const price = (usd: number | undefined): string => (usd === undefined ? "" : dollars(usd));

function ModelTable({ host, models, more }: Props & Pick<Provider, "models" | "more">): VNode {
  return (
    <>
      <table class="used">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Context</th>
            <th scope="col">In, per million</th>
            <th scope="col">Out, per million</th>
            <th scope="col">Does it answer?</th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ id, contextTokens, inputUsd, outputUsd, roles }: Model) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{pageLabel(id.slice(id.indexOf("/") + 1))}</bdi>
                {roles.map((role) => (
                  <span key={role} class="badge">
                    {pageLabel(role, 40)}
                  </span>
                ))}
              </th>
              <td>{contextTokens === undefined ? "" : briefly(contextTokens)}</td>
              <td>{price(inputUsd)}</td>
              <td>{price(outputUsd)}</td>
              <td>
                <Test host={host} model={id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="quiet">and {count(more)} more</p>}
    </>
  );
}

type Testing = "not asked" | "asking" | TestOutcome;

/** A button that asks a model for a word, and then whether it answered. */
function Test({ host, model }: Props & { readonly model: string }): VNode {
  const [testing, setTesting] = useState<Testing>("not asked");
  const test = (): void => {
    setTesting("asking");
    host
      .ask("test", { model })
      .then(setTesting, (error: unknown) => setTesting({ ok: false, message: failureOf(error).message }));
  };
  return (
    <span class="test">
      <button
        type="button"
        class="link"
        disabled={testing === "asking"}
        aria-label={`Test ${pageLabel(model)}`}
        title="Sends a short request, which counts as usage"
        onClick={test}
      >
        {testing === "asking" ? "Asking…" : "Test"}
      </button>
      <span role="status">
        <Outcome testing={testing} />
      </span>
    </span>
  );
}

export function Outcome({ testing }: { readonly testing: Testing }): VNode | null {
  if (typeof testing === "string") return null;
  if (testing.ok)
    return (
      <span class="answer">
        <Icon name="check" class="good" /> answers after {count(testing.firstTokenMs)} ms
      </span>
    );
  return (
    <span class="answer bad-text">
      <bdi>{line(testing.message, 400)}</bdi>
    </span>
  );
}
