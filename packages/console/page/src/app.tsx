import type { FunctionComponent } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { SessionJson } from "../../src/api/shapes.ts";
import { api, textOf } from "./model/api.ts";
import { type LiveState, live } from "./model/live.ts";
import { goTo, PAGES, type PageName, type Place, PREFIX, parsePlace, placeHash } from "./model/place.ts";
import { applyTheme, storedTheme, type Theme } from "./model/theme.ts";
import { AuditPage } from "./pages/audit.tsx";
import { EnsemblePage } from "./pages/ensemble.tsx";
import { HotSpotsPage } from "./pages/hot-spots.tsx";
import { LivePage } from "./pages/live.tsx";
import { MetricsPage } from "./pages/metrics.tsx";
import { RecipesPage } from "./pages/recipes.tsx";
import { SessionsPage } from "./pages/sessions.tsx";
import { TransactionPage } from "./pages/transaction.tsx";
import { TransferPage } from "./pages/transfer.tsx";
import { TreePage } from "./pages/tree.tsx";
import { WordsPage } from "./pages/words.tsx";
import { Button } from "./parts/button.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { isTyping } from "./parts/is-typing.ts";
import { KeysDialog } from "./parts/keys-dialog.tsx";
import { LoginDialog } from "./parts/login-dialog.tsx";
import { NoticeProvider } from "./parts/notices.tsx";
import { type Command, Palette } from "./parts/palette.tsx";
import { SessionContext } from "./parts/session-context.ts";
import { useBasket } from "./parts/use-basket.ts";
import { useLiveState } from "./parts/use-live-state.ts";
import { useWindowEvent } from "./parts/use-window-event.ts";

interface PageEntry {
  readonly title: string;
  readonly icon: IconName;
  readonly Content: FunctionComponent<{ readonly params: Place["params"] }>;
}
const PAGE_ENTRIES: Readonly<Record<PageName, PageEntry>> = {
  ensemble: { title: "Ensemble", icon: "servers", Content: EnsemblePage },
  tree: { title: "Tree", icon: "tree", Content: TreePage },
  transaction: { title: "Transaction", icon: "basket", Content: TransactionPage },
  transfer: { title: "Import, export", icon: "download", Content: TransferPage },
  sessions: { title: "Sessions", icon: "people", Content: SessionsPage },
  recipes: { title: "Recipes", icon: "lock", Content: RecipesPage },
  hot: { title: "Hot spots", icon: "flame", Content: HotSpotsPage },
  metrics: { title: "Metrics", icon: "chart", Content: MetricsPage },
  live: { title: "Changes", icon: "pulse", Content: LivePage },
  words: { title: "Words", icon: "terminal", Content: WordsPage },
  audit: { title: "Audit", icon: "list", Content: AuditPage },
};
const LIVE_TEXTS: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Disconnected",
};

export function App() {
  const place = usePlace();
  const drafts = useBasket();
  const [session, setSession] = useState<SessionJson>();
  const [error, setError] = useState<string>();
  const [isLoggingIn, setLoggingIn] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [areKeysOpen, setKeysOpen] = useState(false);
  const [theme, setTheme] = useState<Theme>(storedTheme);

  const accept = useCallback((found: SessionJson) => {
    setSession(found);
    setError(undefined);
    if (found.role !== null) live.open();
  }, []);
  const start = useCallback(() => {
    api.session().then(accept, (reason: unknown) => setError(textOf(reason)));
  }, [accept]);
  useEffect(start, [start]);
  useWindowEvent("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      setPaletteOpen(true);
    } else if (event.key === "?" && !isTyping(event)) setKeysOpen(true);
  });
  useEffect(() => {
    document.title = `${PAGE_ENTRIES[place.page].title} · ${session?.ensemble ?? "Zooid console"}`;
  }, [place.page, session?.ensemble]);

  // The browser asks before the gathered writes are lost.
  useWindowEvent("beforeunload", drafts.length === 0 ? undefined : (event) => event.preventDefault());

  const changeTheme = useCallback((next: Theme) => {
    applyTheme(next);
    setTheme(next);
  }, []);
  const commands = useMemo((): readonly Command[] => {
    const pages = (session === undefined ? [] : pagesOf(session)).map((page) => ({
      label: `Go to ${PAGE_ENTRIES[page].title}`,
      run: () => goTo(page),
    }));
    const themes = (["system", "light", "dark"] as const).map((each) => ({
      label: `Theme: ${each}`,
      run: () => changeTheme(each),
    }));
    const others = (session?.ensembles ?? [])
      .filter(({ prefix }) => prefix !== PREFIX)
      .map(({ name, prefix }) => ({ label: `Ensemble: ${name}`, run: () => openEnsemble(prefix, place.page) }));
    const keys = { label: "Show the keys", run: () => setKeysOpen(true) };
    const login = { label: "Log in", run: () => setLoggingIn(true) };
    const logout = { label: "Log out", run: () => void api.logout().then(accept) };
    return [...pages, ...others, session?.user == null ? login : logout, keys, ...themes];
  }, [session, place.page, changeTheme, accept]);

  if (session === undefined) {
    return (
      <main class="lonely">
        {error === undefined ? <p>Loading…</p> : <p role="alert">{error}</p>}
        {error !== undefined && <Button text="Try again" class="primary" onClick={start} />}
      </main>
    );
  }
  const nextTheme = theme === "system" ? "dark" : theme === "dark" ? "light" : "system";
  const { Content } = PAGE_ENTRIES[place.page];
  return (
    <SessionContext.Provider value={session}>
      <NoticeProvider>
        <Button text="Skip to the content" class="skip" onClick={focusMain} />
        <div class="shell">
          <header class="top">
            <a class="brand" href={placeHash("ensemble")} aria-label="Zooid console">
              <Icon name="logo" />
              <span>Zooid</span>
            </a>
            <EnsembleName session={session} page={place.page} />
            <LiveBadge />
            <span class="spacer" />
            <button type="button" class="palette-button" onClick={() => setPaletteOpen(true)}>
              <Icon name="search" />
              <span>Go to or do…</span>
              <kbd>Ctrl K</kbd>
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`Theme: ${theme}. Change to ${nextTheme}`}
              title={`Theme: ${theme}`}
              onClick={() => changeTheme(nextTheme)}
            >
              <Icon name={theme === "dark" ? "moon" : theme === "light" ? "sun" : "contrast"} />
            </button>
            <UserButton
              session={session}
              onLogin={() => setLoggingIn(true)}
              onLogout={() => void api.logout().then(accept)}
            />
          </header>
          <nav class="side" aria-label="Pages">
            {pagesOf(session).map((page) => (
              <a key={page} href={placeHash(page)} aria-current={place.page === page ? "page" : undefined}>
                <Icon name={PAGE_ENTRIES[page].icon} />
                <span>{PAGE_ENTRIES[page].title}</span>
                {page === "transaction" && drafts.length > 0 && <span class="count">{drafts.length}</span>}
              </a>
            ))}
          </nav>
          <main id="main" tabIndex={0}>
            {session.role === null ? (
              <LoginNeeded onLogin={() => setLoggingIn(true)} />
            ) : (
              <Content params={place.params} />
            )}
          </main>
        </div>
        {areKeysOpen && <KeysDialog onClose={() => setKeysOpen(false)} />}
        {isPaletteOpen && <Palette commands={commands} onClose={() => setPaletteOpen(false)} />}
        {isLoggingIn && (
          <LoginDialog
            onClose={() => setLoggingIn(false)}
            onDone={(found) => {
              setLoggingIn(false);
              accept(found);
            }}
          />
        )}
      </NoticeProvider>
    </SessionContext.Provider>
  );
}

/** Pages that the role and the console's server offer. */
function pagesOf({ role, features }: SessionJson): readonly PageName[] {
  const isOperator = role === "operator";
  const isOffered: Partial<Record<PageName, boolean>> = {
    transaction: isOperator || role === "editor",
    words: isOperator,
    audit: isOperator && features.clientReports,
  };
  return PAGES.filter((page) => isOffered[page] ?? true);
}

interface EnsembleNameProps {
  readonly session: SessionJson;
  readonly page: PageName;
}

/**
 * With a choice where the console has several. Each ensemble is a page of its own, with its own
 * login.
 */
function EnsembleName({ session, page }: EnsembleNameProps) {
  const { ensemble, ensembles } = session;
  if (ensembles.length < 2) {
    return (
      <span class="ensemble-name" title="Ensemble">
        {ensemble}
      </span>
    );
  }
  return (
    <select
      class="ensemble-choice"
      aria-label="Ensemble"
      value={PREFIX}
      onChange={(event) => openEnsemble(event.currentTarget.value, page)}
    >
      {ensembles.map(({ name, prefix }) => (
        <option key={prefix} value={prefix}>
          {name}
        </option>
      ))}
    </select>
  );
}

function openEnsemble(prefix: string, page: PageName): void {
  location.assign(`${prefix}/console/${placeHash(page)}`);
}

function LiveBadge() {
  const state = useLiveState();
  return (
    <span class={`badge live-${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {LIVE_TEXTS[state]}
    </span>
  );
}

interface UserButtonProps {
  readonly session: SessionJson;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
}

function UserButton({ session, onLogin, onLogout }: UserButtonProps) {
  const { user, role } = session;
  const text = user ?? "anonymous";
  return (
    <span class="user">
      <span class="user-name">
        {text}
        <small>{role ?? "no role"}</small>
      </span>
      <Button text={user === null ? "Log in" : "Log out"} onClick={user === null ? onLogin : onLogout} />
    </span>
  );
}

function LoginNeeded({ onLogin }: { readonly onLogin: () => void }) {
  return (
    <div class="empty">
      <Icon name="lock" />
      <h1>Log in to see this ensemble</h1>
      <p>Its console has roles, and every user needs one.</p>
      <Button text="Log in" class="primary" onClick={onLogin} />
    </div>
  );
}

function usePlace(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.hash));
  useWindowEvent("hashchange", () => setPlace(parsePlace(location.hash)));
  return place;
}

/** A button, since the fragment of a link would be another place of the page. */
function focusMain(): void {
  document.getElementById("main")?.focus();
}
