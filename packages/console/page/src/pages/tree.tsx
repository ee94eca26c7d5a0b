import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../model/api.ts";
import { live } from "../model/live.ts";
import { goTo, parentOf } from "../model/place.ts";
import { TreeStore } from "../model/tree-store.ts";
import { Button } from "../parts/button.tsx";
import { isTyping } from "../parts/is-typing.ts";
import { useMayEdit } from "../parts/session-context.ts";
import { TreeView } from "../parts/tree-view.tsx";
import { useForbidden } from "../parts/use-forbidden.ts";
import { useWindowEvent } from "../parts/use-window-event.ts";
import { CreateDialog } from "./create-dialog.tsx";
import { NodePanel } from "./node-panel.tsx";

const FILTER_MS = 250;

/** The tree, and the selected node beside it. */
export function TreePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const path = params["path"] ?? "/";
  const [, setVersion] = useState(0);
  const [flashes, setFlashes] = useState<ReadonlyMap<string, number>>(new Map());
  const [filter, setFilter] = useState("");
  const [isCreating, setCreating] = useState(false);
  const filterField = useRef<HTMLInputElement>(null);
  const mayEdit = useMayEdit();
  const forbidden = useForbidden(path);
  const mayCreate = mayEdit && !forbidden.actions.has("create-children");
  const store = useMemo(
    () =>
      new TreeStore(
        (at, after, part) => api.children(at, { after, filter: part }),
        () => setVersion((last) => last + 1),
      ),
    [],
  );
  useEffect(() => {
    void store.loadMore("/");
    return live.listen({
      changes: (changes) => {
        store.apply(changes);
        const nowMs = Date.now();
        setFlashes((old) => {
          const kept = [...old].filter(([, atMs]) => nowMs - atMs < 1_500);
          return new Map([...kept, ...changes.slice(-200).map((change) => [change.path, nowMs] as const)]);
        });
      },
      resync: () => store.reload(),
    });
  }, [store]);
  useEffect(() => store.reveal(path), [store, path]);
  useEffect(() => {
    const timer = setTimeout(() => store.setFilter(filter.trim()), FILTER_MS);
    return () => clearTimeout(timer);
  }, [store, filter]);
  const select = useCallback((selected: string) => goTo("tree", { path: selected }), []);
  useWindowEvent("keydown", (event) => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") filterField.current?.focus();
    else if (event.key === "n" && mayCreate) setCreating(true);
    else return;
    event.preventDefault();
  });
  return (
    <div class="tree-page">
      <h1 class="hidden">Tree</h1>
      <section class="tree-side" aria-label="Nodes">
        <div class="toolbar">
          <input
            ref={filterField}
            type="search"
            class="grow"
            aria-label="Filter the names of expanded nodes"
            placeholder="Filter names ( / )"
            spellcheck={false}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          {mayCreate && (
            <Button
              icon="plus"
              text="New"
              onClick={() => setCreating(true)}
              title="Create a node below the selected one (n)"
            />
          )}
        </div>
        <TreeView store={store} rows={store.rows} selected={path} flashes={flashes} onSelect={select} />
      </section>
      <NodePanel
        key={path}
        path={path}
        tab={params["tab"] ?? ""}
        forbidden={forbidden}
        onDeleted={() => select(parentOf(path))}
        onCreate={() => setCreating(true)}
      />
      {isCreating && (
        <CreateDialog
          parent={path}
          onClose={() => setCreating(false)}
          onDone={(made) => {
            setCreating(false);
            store.expand(path);
            select(made);
          }}
        />
      )}
    </div>
  );
}
