import { useEffect, useState } from "preact/hooks";
import { ApiError, api, textOf } from "../model/api.ts";
import { afterOf, basket, type Kept, multiOp } from "../model/basket.ts";
import { visible } from "../model/formats.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { Diff } from "../parts/diff.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { NodeLink } from "../parts/links.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useBasket } from "../parts/use-basket.ts";

interface Refusal {
  /** Undefined: the transaction as a whole. */
  readonly id: number | undefined;
  readonly text: string;
  readonly isConflict: boolean;
}

/** Several writes as one transaction: all are made, or none. Each shows its difference before. */
export function TransactionPage() {
  const drafts = useBasket();
  const [refusal, setRefusal] = useState<Refusal>();
  const [isCommitting, setCommitting] = useState(false);
  const notify = useNotify();
  // A changed list was not refused yet.
  useEffect(() => setRefusal(undefined), [drafts]);
  const commit = (): void => {
    setCommitting(true);
    setRefusal(undefined);
    const sent = drafts;
    api
      .multi(sent.map(multiOp))
      .then(
        ({ results }) => {
          notify(`Committed ${countText(results.length)} as one transaction`);
          basket.clear();
        },
        (reason: unknown) => {
          const { failedIndex, code } = reason instanceof ApiError ? reason.problem : {};
          const failed = failedIndex === undefined ? undefined : sent[failedIndex];
          setRefusal({ id: failed?.id, text: textOf(reason), isConflict: code === "BAD_VERSION" });
        },
      )
      .finally(() => setCommitting(false));
  };
  return (
    <section class="page">
      <h1>Transaction</h1>
      {drafts.length === 0 ? (
        <p class="hint">
          Writes are gathered here by <em>Add to the transaction</em>: when a node is created, edited, deleted, or its
          version is checked (on its tab Stat). They are made together, or not at all.
        </p>
      ) : (
        <>
          <div class="toolbar">
            <span class="hint" role="status">
              {countText(drafts.length)}, in this order. Nothing is written yet.
            </span>
            <span class="spacer" />
            <Button text="Discard all" onClick={() => basket.clear()} />
            <Button
              text={`Commit ${countText(drafts.length)}`}
              class="primary"
              disabled={isCommitting}
              onClick={commit}
            />
          </div>
          {refusal !== undefined && (
            <Failure
              text={
                refusal.id === undefined
                  ? `Nothing was committed: ${refusal.text}`
                  : "Nothing was committed: one write is refused"
              }
            />
          )}
          <ol class="drafts">
            {drafts.map((draft, i) => (
              <DraftCard
                key={draft.id}
                draft={draft}
                isFirst={i === 0}
                isLast={i === drafts.length - 1}
                refusal={refusal?.id === draft.id ? refusal : undefined}
              />
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

interface DraftCardProps {
  readonly draft: Kept;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly refusal: Refusal | undefined;
}

function DraftCard({ draft, isFirst, isLast, refusal }: DraftCardProps) {
  const { id, op, path } = draft;
  const [error, setError] = useState<string>();
  const name = `${op} ${visible(path)}`;
  const rebase = (): void => {
    api.node(path, true).then(
      ({ stat, data }) => {
        const isBase64 = draft.op === "set" && "base64" in draft.data;
        basket.rebase(id, { version: stat.version, before: (isBase64 ? data?.base64 : data?.text) ?? "" });
      },
      (reason: unknown) => setError(textOf(reason)),
    );
  };
  return (
    <li class={`card draft ${refusal === undefined ? "" : "refused"}`} aria-label={name}>
      <header>
        <span class={`role op-${op}`}>{op}</span>
        <h2>
          <NodeLink path={path} />
        </h2>
        <span class="hint">
          {draft.op === "create" ? draft.mode : draft.version === -1 ? "any version" : `at version ${draft.version}`}
        </span>
        <span class="spacer" />
        <IconButton label={`Earlier: ${name}`} icon="up" disabled={isFirst} onClick={() => basket.move(id, -1)} />
        <IconButton label={`Later: ${name}`} icon="down" disabled={isLast} onClick={() => basket.move(id, 1)} />
        <IconButton label={`Remove: ${name}`} icon="close" onClick={() => basket.remove(id)} />
      </header>
      {refusal !== undefined && (
        <div class="banner critical" role="alert">
          <Icon name="warning" />
          <span>{refusal.text}</span>
          {refusal.isConflict && <Button text="Take the present version" onClick={rebase} />}
        </div>
      )}
      <Failure text={error} />
      {op !== "check" && (draft.before !== "" || afterOf(draft) !== "") && (
        <Diff before={draft.before} after={afterOf(draft)} label={`Difference of ${name}`} />
      )}
    </li>
  );
}

function countText(count: number): string {
  return count === 1 ? "1 write" : `${count} writes`;
}
