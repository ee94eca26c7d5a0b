import { useCallback, useState } from "preact/hooks";
import type { ContenderJson, RecipeJson, RecipesJson } from "../../../src/api/recipe-shapes.ts";
import { api } from "../model/api.ts";
import { ageText, visible } from "../model/formats.ts";
import { nodeHash, placeHash } from "../model/place.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { SearchField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { NodeLink, SessionLink } from "../parts/links.tsx";
import { ProgressBar } from "../parts/progress-bar.tsx";
import { usePolled } from "../parts/use-polled.ts";
import { type RecipeWalk, useRecipeWalk } from "../parts/use-recipe-walk.ts";
import { WaitGraph } from "../parts/wait-graph.tsx";

const POLL_MS = 2_000;
/** Maximum number of recipes that are shown of those that the walk has found. */
const SHOWN_MAX = 200;
const intervalOf = (found: RecipesJson | undefined): number => found?.intervalMs ?? POLL_MS;

/** Locks, elections, queues and groups, as their nodes show them. */
export function RecipesPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const [text, setText] = useState(params["path"] ?? "/");
  const path = text.startsWith("/") ? text : "/";
  const read = useCallback(() => api.recipes(path), [path]);
  const { value, error } = usePolled(read, intervalOf);
  const walk = useRecipeWalk(path);
  const choose = (chosen: string): void => {
    setText(chosen);
    // In the address, without a step in the browser's history for each letter.
    history.replaceState(null, "", placeHash("recipes", { path: chosen }));
  };
  const isLive = new Set(value?.recipes.map((recipe) => recipe.path));
  const further = walk.recipes.filter((recipe) => !isLive.has(recipe.path));
  return (
    <section class="page">
      <h1>Recipes</h1>
      <div class="toolbar">
        <SearchField label="Below" value={text} onText={choose} />
        <span class="hint" role="status">
          {value === undefined ? "Looking…" : `${value.recipes.length} found in ${value.scannedCount} nodes`}
          {value !== undefined && value.intervalMs > POLL_MS && `, every ${Math.round(value.intervalMs / 1000)} s`}
          {value?.isCut === true && "; the tree has more nodes than one look visits"}
        </span>
      </div>
      <Failure text={error} />
      {(value?.isCut === true || walk.state !== "idle") && <Walk walk={walk} />}
      {value?.recipes.length === 0 && (
        <p class="hint">Locks, elections, semaphores, queues, groups and services appear here while they are in use.</p>
      )}
      {value !== undefined && <WaitGraph recipes={value} />}
      <div class="cards">
        {value?.recipes.map((recipe) => (
          <Recipe key={recipe.path} recipe={recipe} />
        ))}
      </div>
      {further.length > 0 && (
        <>
          <h2>Further recipes</h2>
          <p class="hint">
            As they were when they were found. Below a path of their own they are shown as they change.
          </p>
          <div class="cards">
            {further.slice(0, SHOWN_MAX).map((recipe) => (
              <Recipe key={recipe.path} recipe={recipe} />
            ))}
          </div>
          {further.length > SHOWN_MAX && (
            <p class="hint">
              The first {SHOWN_MAX} of {further.length.toLocaleString()} are shown; give a path for the others.
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** The walk through all nodes, which takes long in a large tree. */
function Walk({ walk: { state, recipes, progress, error, start, stop } }: { readonly walk: RecipeWalk }) {
  const found = recipes.length === 1 ? "1 recipe" : `${recipes.length.toLocaleString()} recipes`;
  const count = `${found} in ${progress.doneCount.toLocaleString()} nodes`;
  return (
    <>
      {state === "running" ? (
        <ProgressBar label="All nodes" progress={progress} unit="nodes" onCancel={stop} />
      ) : (
        <div class="toolbar">
          <Button
            text={
              state === "stopped" ? "Continue" : state === "complete" ? "Look at all nodes again" : "Look at all nodes"
            }
            onClick={start}
          />
          <span class="hint" role="status">
            {state === "complete" && `Complete: ${count}`}
            {state === "stopped" && `Stopped: ${count}`}
          </span>
        </div>
      )}
      <Failure text={error} />
    </>
  );
}

function Recipe({ recipe }: { readonly recipe: RecipeJson }) {
  const { path, kind, library, contenders, isCut } = recipe;
  const isContended = kind !== "queue" && kind !== "group" && kind !== "services";
  return (
    <article class="card recipe" aria-label={`${kind} ${path}`}>
      <header>
        <span class={`role role-${kind.replaceAll(" ", "-")}`}>{kind}</span>
        <span class="hint">{library}</span>
        <h2>
          <NodeLink path={path} />
        </h2>
      </header>
      <p class="hint">{countText(recipe)}</p>
      <ol class="contenders">
        {contenders.map((contender) => (
          <Contender key={contender.path} contender={contender} isContended={isContended} />
        ))}
        {isCut && <li class="hint">…</li>}
      </ol>
    </article>
  );
}

function Contender({ contender, isContended }: { readonly contender: ContenderJson; readonly isContended: boolean }) {
  const { state, path, name, owner, since, text, kind } = contender;
  return (
    <li class={state}>
      <Icon name={state === "holds" ? "bolt" : "people"} />
      <span class="contender">
        <span>
          {isContended && (
            <>
              <strong>{state}</strong>
              {kind === "shared" && ", shared,"}{" "}
            </>
          )}
          for {ageText(Number(since), Date.now())}
          {owner !== null && (
            <>
              {" · "}
              <SessionLink id={owner} />
            </>
          )}
        </span>
        <a class="code" href={nodeHash(path)}>
          {visible(name)}
        </a>
        {text !== null && <span class="hint">{visible(text)}</span>}
      </span>
    </li>
  );
}

function countText({ kind, holderCount, waitingCount }: RecipeJson): string {
  if (kind === "queue") return `${waitingCount} items`;
  if (kind === "group" || kind === "services") return `${holderCount} members`;
  return `${holderCount} hold${holderCount === 1 ? "s" : ""}, ${waitingCount} wait`;
}
