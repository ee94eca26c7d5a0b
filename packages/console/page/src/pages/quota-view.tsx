import { useEffect, useState } from "preact/hooks";
import type { QuotaJson } from "../../../src/api/node-fact-shapes.ts";
import { api, textOf } from "../model/api.ts";
import { sizeText, visible } from "../model/formats.ts";
import { nodeHash } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";

type Use = NonNullable<QuotaJson["quota"]>["nodes"];

interface QuotaViewProps {
  readonly path: string;
  /** Changes of the node change the use. */
  readonly version: string;
}

/** The quota that holds for a node, its own or an ancestor's. */
export function QuotaView({ path, version }: QuotaViewProps) {
  const [found, setFound] = useState<QuotaJson>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    api.quota(path).then(
      (json) => isCurrent && setFound(json),
      (reason: unknown) => isCurrent && setError(textOf(reason)),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, version]);
  if (found === undefined) return <Failure text={error} />;
  const { quota } = found;
  return (
    <section class="quota" aria-label="Quota">
      <h2>Quota</h2>
      {quota === null ? (
        <p class="hint">No quota holds for this node.</p>
      ) : (
        <>
          <p class="hint">
            {quota.path === path ? "Of this node, with its descendants." : "Of the ancestor "}
            {quota.path !== path && <a href={nodeHash(quota.path, "stat")}>{visible(quota.path)}</a>}
          </p>
          <UseOf label="Nodes" use={quota.nodes} text={(value) => value.toLocaleString()} />
          <UseOf label="Bytes" use={quota.bytes} text={sizeText} />
        </>
      )}
    </section>
  );
}

interface UseOfProps {
  readonly label: string;
  readonly use: Use;
  readonly text: (value: number) => string;
}

function UseOf({ label, use, text }: UseOfProps) {
  const { softLimit, hardLimit } = use;
  const used = Number(use.used);
  const limit = hardLimit ?? softLimit;
  const share = limit === null ? 0 : Number(limit) === 0 ? 1 : used / Number(limit);
  const kind =
    hardLimit === null
      ? "soft limit: the servers log a warning beyond it"
      : "hard limit: writes beyond it are refused where quotas are enforced";
  return (
    <div class="use">
      <span>
        {label}: <strong>{text(used)}</strong>
        {limit === null ? " used, no limit" : ` of ${text(Number(limit))}`}
      </span>
      {limit !== null && (
        <>
          <meter aria-label={`${label} used`} min={0} max={1} high={0.8} value={Math.min(1, share)} />
          <span class={share > 1 ? "over" : "hint"}>
            {Math.round(share * 100)} %, {kind}
          </span>
        </>
      )}
    </div>
  );
}
