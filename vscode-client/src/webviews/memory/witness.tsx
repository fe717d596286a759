import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, counted } from "../shared/format.ts";
import { localTime } from "../shared/local-time.ts";
import { size } from "../shared/size.ts";
import { failureOf, useAsked, useChanged } from "../shared/hooks.ts";
import { Failed, Notice, Pending } from "../shared/notice.tsx";
import { line } from "../shared/text.ts";
import type { Projections, Verdict, Witness } from "./messages.ts";
import type { TabProps } from "./tab-props.ts";

/** How often a memory that is being rebuilt is checked. */
const rebuildingEveryMs = 1_000;

type Proof = "none" | "busy" | Verdict | { readonly failure: string };

/** Verifies that nothing was changed behind the owner's back, and offers export and import. */
export function WitnessPage({ host, whose, workspace }: TabProps): VNode {
  // Only the other workspace's kernel knows what the journal of its memory should be.
  const isImported = workspace !== undefined;
  const { asked, again } = useAsked(host, "witness", isImported ? null : whose);
  useChanged(host, asked, again);
  const [proof, setProof] = useState<Proof>("none");
  const [failure, setFailure] = useState<string>();
  const rebuilding = asked.kind === "ready" && asked.value.projections?.rebuilding !== undefined;
  useEffect(() => {
    if (!rebuilding) return;
    const timer = setInterval(again, rebuildingEveryMs);
    return () => clearInterval(timer);
  }, [rebuilding, again]);

  const verify = (): void => {
    setProof("busy");
    host
      .ask("verify", whose)
      .then(setProof, (error: unknown) => setProof({ failure: failureOf(error).message }));
  };
  const carry = (what: "exportMemory" | "importMemory"): void => {
    setFailure(undefined);
    host.ask(what, whose).then(
      ({ done }) => {
        if (done) again();
      },
      (error: unknown) => setFailure(failureOf(error).message),
    );
  };

  if (isImported)
    return (
      <Notice title="This memory is another workspace's.">
        <p>It is only read here; it is proven and exported where it is written:</p>
        <p class="mono">
          <bdi>{line(workspace, 1_000)}</bdi>
        </p>
      </Notice>
    );
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  const { records } = asked.value;
  return (
    <section class="witness" aria-label="Witness">
      <p class="quiet">
        Each write is a record that names the one before it by its hash: what was changed, cut or put in
        afterwards is found.
      </p>
      <div class="buttons">
        <button type="button" class="primary" disabled={proof === "busy"} onClick={verify}>
          {proof === "busy" ? "Verifying…" : "Verify"}
        </button>
        <button
          type="button"
          class="secondary"
          disabled={records === 0}
          onClick={() => carry("exportMemory")}
        >
          Export…
        </button>
        {whose.namespace === undefined && (
          <button
            type="button"
            class="secondary"
            disabled={records > 0}
            title={records > 0 ? "A memory can only be imported if there is none yet" : ""}
            onClick={() => carry("importMemory")}
          >
            Import…
          </button>
        )}
      </div>
      {proof !== "none" && proof !== "busy" && <ProofResult proof={proof} />}
      {failure !== undefined && <Failed message={failure} />}
      <Figures witness={asked.value} />
    </section>
  );
}

function ProofResult({ proof }: { readonly proof: Verdict | { readonly failure: string } }): VNode {
  if ("failure" in proof) return <Failed message={proof.failure} />;
  if (proof.ok)
    return (
      <div class="notice good" role="status">
        <p class="notice-title">✓ The chain is whole.</p>
        <p>{counted(proof.records, "record was", "records were")} proven from the first to the last.</p>
      </div>
    );
  return (
    <div class="notice error" role="alert">
      <p class="notice-title">✗ The chain is broken.</p>
      {proof.firstBad !== undefined && (
        <p>
          First bad record: {proof.firstBad.seq}. <bdi>{line(proof.firstBad.reason, 600)}</bdi>
        </p>
      )}
    </div>
  );
}

function Figures({
  witness: { records, head, sizeBytes, limitBytes, projections },
}: {
  readonly witness: Witness;
}): VNode {
  const used = limitBytes === 0 ? 0 : Math.min(1, sizeBytes / limitBytes);
  return (
    <>
      <dl>
        <dt>Records</dt>
        <dd>{count(records)}</dd>
        <dt>Head</dt>
        <dd
          class="mono head"
          title="The last record's hash: compare it to know that two memories are the same"
        >
          {records === 0 ? "none yet" : line(head, 128)}
        </dd>
        <dt>Size</dt>
        <dd>
          {size(sizeBytes)} of {size(limitBytes)}
          <span
            class={used > 0.9 ? "size-bar full" : "size-bar"}
            role="meter"
            aria-label="Part of the limit"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(used * 100)}
          >
            <i style={{ width: `${used * 100}%` }} />
          </span>
        </dd>
      </dl>
      <h2>Search index</h2>
      {projections === undefined ? (
        <p class="quiet">Nothing was asked of this memory yet; it is made ready when it is needed.</p>
      ) : (
        <ProjectionFigures projections={projections} records={records} />
      )}
    </>
  );
}

interface ProjectionProps {
  readonly projections: Projections;
  readonly records: number;
}

function ProjectionFigures({ projections, records }: ProjectionProps): VNode {
  const { rebuilding, oldest, newest } = projections;
  return (
    <>
      {rebuilding !== undefined && (
        <p role="status">
          Rebuilding {line(rebuilding.what, 32)}: {Math.round(rebuilding.fraction * 100)} %
          <progress max={1} value={rebuilding.fraction} />
        </p>
      )}
      <dl>
        <dt>Up to record</dt>
        <dd>
          {count(projections.projected)} of {count(records)}
        </dd>
        <dt>Events</dt>
        <dd>
          {count(projections.events)}
          {oldest !== undefined && newest !== undefined && (
            <span class="quiet">
              {" "}
              {localTime(oldest).slice(0, 10)} – {localTime(newest).slice(0, 10)}
            </span>
          )}
        </dd>
        <dt>Items</dt>
        <dd>
          {count(projections.items)}, {counted(projections.relations, "relation")}
        </dd>
        <dt>Vectors</dt>
        <dd>
          {count(projections.vectors)} in {line(projections.engine, 32)}
          {projections.dimensions > 0 && (
            <span class="quiet"> ({count(projections.dimensions)} dimensions)</span>
          )}
        </dd>
        <dt>Tiers</dt>
        <dd>
          {count(projections.hot)} hot, {count(projections.warm)} warm, {count(projections.cold)} cold
        </dd>
        <dt>Embedder</dt>
        <dd>
          {line(projections.embedder, 100)}
          {projections.pending > 0 && (
            <span class="quiet"> · {counted(projections.pending, "item waits", "items wait")}</span>
          )}
          {projections.failed > 0 && (
            <span class="bad"> · {counted(projections.failed, "item")} given up on</span>
          )}
        </dd>
        <dt>On the disk</dt>
        <dd>{size(projections.bytes)}</dd>
      </dl>
    </>
  );
}
