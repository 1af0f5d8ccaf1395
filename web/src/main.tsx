import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Redirect, Route, Router, Switch, useLocation } from "wouter";
import "./look/fonts.css";
import "./look/tokens.css";
import "./look/base.css";
import { cache } from "./api/cache";
import { basePath } from "./api/client";
import { followTabs } from "./api/tabs";
import { Empty, Waiting } from "./parts/states";
import { HOME, ROUTES } from "./routes";
import { startKeys } from "./shell/keys";
import { Shell } from "./shell/shell";
import { startTheme } from "./shell/theme";
import { Trouble } from "./shell/trouble";

function Pages() {
  const [place] = useLocation();
  return (
    <Trouble place={place}>
      <Suspense fallback={<Waiting what="The page is loading" />}>
        <Switch>
          {ROUTES.map(({ path, page: Page }) => (
            <Route key={path} path={path}>
              {(params) => <Page params={params} />}
            </Route>
          ))}
          <Route path="/">
            <Redirect to={HOME} replace />
          </Route>
          <Route>
            <Empty title="There is no such page">
              <p>Nothing is at {place}. The search at the top (Ctrl K) finds runs, workflows and what they are about.</p>
            </Empty>
          </Route>
        </Switch>
      </Suspense>
    </Trouble>
  );
}

startTheme();
followTabs();
startKeys();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={cache}>
        <Router base={basePath}>
          <Shell>
            <Pages />
          </Shell>
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  );
}
