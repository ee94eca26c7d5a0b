import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { NodeJson } from "../../../src/api/shapes.ts";
import { ApiError, api, textOf } from "../model/api.ts";
import { sizeText, visible } from "../model/formats.ts";
import { live } from "../model/live.ts";
import { goTo, nameOf, nodeHash, placeHash } from "../model/place.ts";
import { Banner } from "../parts/banner.tsx";
import { Button, IconButton } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useMayEdit } from "../parts/session-context.ts";
import type { Forbidden } from "../parts/use-forbidden.ts";
import { AclTab } from "./acl-tab.tsx";
import { DataTab } from "./data-tab.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { StatTab } from "./stat-tab.tsx";

const TABS = [
  { id: "data", label: "Data" },
  { id: "stat", label: "Stat" },
  { id: "acl", label: "Access" },
  { id: "history", label: "History" },
] as const;

interface NodePanelProps {
  readonly path: string;
  readonly tab: string;
  readonly forbidden: Forbidden;
  readonly onDeleted: () => void;
  readonly onCreate: () => void;
}

/** One node: its data, Stat, access list and changes. It is read again when it changes. */
export function NodePanel({ path, tab, forbidden, onDeleted, onCreate }: NodePanelProps) {
  const [node, setNode] = useState<NodeJson>();
  const [error, setError] = useState<ApiError | Error>();
  const [isDeleting, setDeleting] = useState(false);
  const [isRevealed, setRevealed] = useState(false);
  const mayEdit = useMayEdit();
  const { actions, askAgain, noteRead } = forbidden;
  const notify = useNotify();
  const read = useCallback(() => {
    api.node(path, isRevealed).then(
      (found) => {
        setNode(found);
        setError(undefined);
        noteRead();
      },
      (reason: unknown) => setError(reason instanceof Error ? reason : new Error(String(reason))),
    );
  }, [path, isRevealed, noteRead]);
  useEffect(read, [read]);
  useEffect(
    () =>
      live.listen({
        changes: (changes) => {
          if (changes.some((change) => change.path === path || isChildOf(change.path, path))) read();
        },
        resync: read,
      }),
    [path, read],
  );
  const aversion = node?.stat.aversion;
  const knownAversion = useRef(aversion);
  useEffect(() => {
    if (knownAversion.current !== undefined && knownAversion.current !== aversion) askAgain();
    knownAversion.current = aversion;
  }, [aversion, askAgain]);
  const current = TABS.find(({ id }) => id === tab)?.id ?? "data";
  const isGone = error instanceof ApiError && error.code === "NO_NODE";
  const onTabKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    // From the tab with the focus: a second key may come before the first has changed the place.
    const { id: focused } = event.target as HTMLElement;
    const at = TABS.findIndex(({ id }) => `tab-${id}` === focused);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    goTo("tree", { path, tab: next?.id ?? "" });
    document.getElementById(`tab-${next?.id}`)?.focus();
  };
  const copyPath = (): void => {
    navigator.clipboard.writeText(path).then(
      () => notify("The path is copied"),
      (reason: unknown) => notify(textOf(reason), "failed"),
    );
  };
  return (
    <section class="node" aria-label="Node">
      <header class="node-head">
        <Crumbs path={path} />
        <div class="actions">
          <IconButton label="Copy the path" icon="copy" title="Copy the path" onClick={copyPath} />
          <a
            class="icon-button button"
            aria-label="Export or import here"
            title="Export, import"
            href={placeHash("transfer", { path })}
          >
            <Icon name="download" />
          </a>
          {mayEdit && !actions.has("create-children") && (
            <Button icon="plus" text="New child" disabled={error !== undefined} onClick={onCreate} />
          )}
          {mayEdit && !actions.has("delete") && (
            <Button
              icon="trash"
              text="Delete"
              class="danger"
              disabled={error !== undefined || path === "/"}
              onClick={() => setDeleting(true)}
            />
          )}
        </div>
        {node !== undefined && (
          <p class="facts">
            <span>version {node.stat.version}</span>
            <span>{sizeText(node.stat.dataLength)}</span>
            <span>{node.stat.numChildren.toLocaleString()} children</span>
            {node.stat.ephemeralOwner !== null && <span class="tag">ephemeral</span>}
          </p>
        )}
      </header>
      {isGone ? (
        <Banner kind="critical" role="alert">
          {node === undefined ? "There is no such node." : "This node has been deleted."}
        </Banner>
      ) : (
        <Failure text={error === undefined ? undefined : textOf(error)} />
      )}
      <div class="tabs" role="tablist" aria-label="Parts of the node" onKeyDown={onTabKey}>
        {TABS.map(({ id, label }) => (
          <Button
            text={label}
            key={id}
            id={`tab-${id}`}
            role="tab"
            aria-selected={id === current}
            aria-controls="tab-panel"
            tabIndex={id === current ? 0 : -1}
            onClick={() => goTo("tree", { path, tab: id })}
          />
        ))}
      </div>
      <div id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={`tab-${current}`} tabIndex={-1}>
        {node !== undefined && current === "data" && (
          <DataTab
            node={node}
            isGone={isGone}
            isRefused={error !== undefined}
            isForbidden={actions.has("write")}
            onSaved={read}
            onReveal={() => setRevealed(true)}
          />
        )}
        {node !== undefined && current === "stat" && <StatTab path={path} stat={node.stat} />}
        {current === "acl" && !isGone && (
          <AclTab path={path} aversion={aversion} isForbidden={actions.has("set-acl")} onSaved={askAgain} />
        )}
        {current === "history" && (
          <HistoryTab
            path={path}
            isForbidden={actions.has("write")}
            version={`${node?.stat.mzxid} ${aversion} ${isGone}`}
            onUndone={read}
          />
        )}
      </div>
      {isDeleting && node !== undefined && (
        <DeleteDialog
          node={node}
          onClose={() => setDeleting(false)}
          onDone={(count) => {
            setDeleting(false);
            notify(count === 1 ? `Deleted ${visible(path)}` : `Deleted ${visible(path)} and ${count - 1} descendants`);
            onDeleted();
          }}
        />
      )}
    </section>
  );
}

function Crumbs({ path }: { readonly path: string }) {
  const names = path === "/" ? [] : path.slice(1).split("/");
  return (
    <nav class="crumbs" aria-label="Path">
      <a href={nodeHash("/")}>/</a>
      {names.map((name, i) => {
        const own = `/${names.slice(0, i + 1).join("/")}`;
        return (
          <span key={own}>
            {i > 0 && <span aria-hidden="true">/</span>}
            {own === path ? <b>{visible(nameOf(own))}</b> : <a href={nodeHash(own)}>{visible(name)}</a>}
          </span>
        );
      })}
    </nav>
  );
}

function isChildOf(path: string, parent: string): boolean {
  const prefix = parent === "/" ? "/" : `${parent}/`;
  return path.startsWith(prefix) && !path.includes("/", prefix.length);
}
