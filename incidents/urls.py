from django.urls import path, re_path

from incidents.views import acts, console, fleet, health, inbox, incident, incidents, people, postmortems, reports

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", console.console, name="console"),
    path("signin", people.signin, name="signin"),
    path("signin/<str:secret>", people.signin_link, name="signin_link"),
    path("signout", people.signout, name="signout"),
    path("password", people.set_password, name="set_password"),
    path("profile", people.profile, name="profile"),
    path("incidents/", incidents.incident_list, name="incident_list"),
    path("incidents/new", incidents.incident_new, name="incident_new"),
    path("incidents/<int:pk>/", incident.incident, name="incident"),
    path("incidents/<int:pk>/live", incident.live, name="incident_live"),
    path("incidents/<int:pk>/postmortem", postmortems.postmortem, name="postmortem"),
    path("incidents/<int:pk>/postmortem/publish", postmortems.postmortem_publish, name="postmortem_publish"),
    *(path(f"incidents/<int:pk>/{verb}", acts.act, {"verb": verb}, name=f"incident_{verb}") for verb in acts.DOORS),
    path("nodes/", fleet.node_list, name="node_list"),
    path("nodes/<int:pk>/", fleet.node, name="node"),
    path("reports/", reports.month, name="month"),
    re_path(r"^reports/(?P<period>\d{4}-(?:0[1-9]|1[0-2]))/$", reports.month, name="month"),
    path("inbox/", inbox.delivery_list, name="delivery_list"),
    path("inbox/<int:pk>/", inbox.delivery, name="delivery"),
    path("inbox/<int:pk>/replay", inbox.replay, name="delivery_replay"),
]
