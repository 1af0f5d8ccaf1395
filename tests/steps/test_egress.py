"""Which addresses the egress policy denies, and what an operator can and cannot allow."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidInput
from detent.steps.egress import EgressGuard, EgressPolicy
from detent.steps.egress_addresses import judged_addresses, parse_rule
from detent.steps.errors import EgressDenied

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8"]
METADATA = ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"]


def denied(address: str, *allow: str, port: int = 443, host: str | None = None) -> str | None:
    return EgressPolicy.from_texts(allow).deny_address(ip_address(address), port, host)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert denied(address) is None


def test_a_public_address_behind_nat64_is_allowed() -> None:
    assert denied("64:ff9b::808:808") is None


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::"])
def test_g1_this_machine_is_denied(address: str) -> None:
    assert denied(address)


@pytest.mark.parametrize("address", METADATA)
def test_g2_metadata_services_are_denied(address: str) -> None:
    assert denied(address) == "it is a cloud metadata service"


@pytest.mark.parametrize("name", ["metadata.google.internal", "METADATA.google.internal.", "metadata", "instance-data"])
def test_g2_metadata_names_are_denied_whatever_they_resolve_to(name: str) -> None:
    assert EgressPolicy.from_texts(["*.internal", "10.0.0.0/8"]).deny_name(name, 80)


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::10.0.0.1",
        "::8.8.8.8",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::",
        "2002:808:808::1",
        "2001:0:7f00:1::",
        "2001:0:808:808:0:ffff:80ff:fffe",
        "fec0::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd12:3456::1",
        "ff02::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "4000::1",
        "::fffe:0:1",
    ],
)
def test_g3_addresses_that_wrap_others_or_are_not_public_are_denied(address: str) -> None:
    assert denied(address)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("2002:a9fe:a9fe::", "2002::/16"),
        ("2001:0:a9fe:a9fe::", "2001::/16"),
        ("::a9fe:a9fe", "::/3"),
        ("64:ff9b:1::a9fe:a9fe", "::/3"),
        ("64:ff9b::a9fe:a9fe", "::/3"),
        ("::ffff:a9fe:a9fe", "::/3"),
    ],
)
def test_g3_allowing_the_wrapping_network_does_not_allow_what_is_wrapped(outer: str, inner: str) -> None:
    assert denied(outer, inner)


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.127.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "169.254.1.1",
    ],
)
def test_g4_private_and_reserved_networks_are_denied(address: str) -> None:
    assert denied(address)


@pytest.mark.parametrize("address", ["172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "198.20.0.1"])
def test_g4_the_neighbours_of_private_networks_are_public(address: str) -> None:
    assert denied(address) is None


@given(st.ip_addresses(v=4))
def test_g3_an_ipv4_address_is_never_more_allowed_when_it_is_wrapped(address: object) -> None:
    inner = ip_address(str(address))
    number = int(inner)
    mapped = ip_address((0xFFFF << 32) | number)
    nat64 = ip_address((0x64FF9B << 96) | number)
    assert denied(str(mapped)) == denied(str(nat64)) == denied(str(inner))
    assert denied(str(ip_address((0x2002 << 112) | (number << 80))))
    assert judged_addresses(mapped) == (inner,)


@pytest.mark.parametrize("address", METADATA)
@pytest.mark.parametrize(
    "allow", [("0.0.0.0/0", "::/0"), ("169.254.0.0/16", "100.64.0.0/10", "fd00::/8"), ("box.example", "*.example")]
)
def test_g11_no_network_and_no_name_opens_metadata(address: str, allow: tuple[str, ...]) -> None:
    assert denied(address, *allow, host="box.example") == "it is a cloud metadata service"


@pytest.mark.parametrize("address", METADATA)
def test_g11_a_metadata_address_is_allowed_by_its_own_single_address(address: str) -> None:
    assert denied(address, address) is None
    assert denied(address, f"[{address}]:80", port=80) is None
    assert denied(address, f"[{address}]:80", port=443)


def test_an_allowed_network_is_allowed_and_its_neighbour_is_not() -> None:
    assert denied("10.1.2.3", "10.1.0.0/16") is None
    assert denied("10.2.0.1", "10.1.0.0/16")


def test_an_allowed_port_is_the_only_one() -> None:
    assert denied("127.0.0.1", "127.0.0.1:9000", port=9000) is None
    assert denied("127.0.0.1", "127.0.0.1:9000", port=9001)


@pytest.mark.parametrize(
    ("rule", "host", "is_allowed"),
    [
        ("internal.example", "internal.example", True),
        ("internal.example", "INTERNAL.example.", True),
        ("internal.example", "x.internal.example", False),
        ("internal.example", "evilinternal.example", False),
        ("*.example.org", "a.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "evilexample.org", False),
        ("internal.example:80", "internal.example", False),
    ],
)
def test_a_host_is_allowed_by_its_name(rule: str, host: str, is_allowed: bool) -> None:
    assert (denied("10.0.0.1", rule, host=host) is None) is is_allowed


@pytest.mark.parametrize(
    "text",
    ["", "*", "*.", "10.0.0.1/8", "10.0.0.0/99", "a b", "http://a", "host:0", "host:99999", "2130706433", "a..b", "-a"],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_rule(text)


def test_a_network_with_host_bits_says_which_network_it_is() -> None:
    with pytest.raises(InvalidInput, match=r"10\.0\.0\.0/8"):
        parse_rule("10.0.0.1/8")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("own", ["127.0.0.1", "localhost", "0.0.0.0", "::"])
def test_g10_the_own_port_is_denied_although_loopback_is_allowed(address: str, own: str) -> None:
    policy = EgressPolicy.from_texts(["127.0.0.0/8", "::1", "::", "0.0.0.0"], [(own, 8080)])
    assert policy.deny_address(ip_address(address), 8080) == "it is a port of Detent itself"
    assert policy.deny_address(ip_address(address), 8081) is None


def test_g10_the_own_port_is_denied_at_the_public_address_too() -> None:
    public = ip_address("93.184.216.34")
    policy = EgressPolicy((), (("0.0.0.0", 8080),), is_own=lambda address: address == public)
    assert policy.deny_address(public, 8080) == "it is a port of Detent itself"
    assert policy.deny_address(public, 443) is None
    assert policy.deny_address(ip_address("8.8.8.8"), 8080) is None


def test_g10_the_databases_port_is_denied_by_address_and_by_name() -> None:
    policy = EgressPolicy.from_texts(["10.0.0.0/8", "db.internal"], [("10.0.0.5", 5432), ("db.internal", 5432)])
    assert policy.deny_address(ip_address("10.0.0.5"), 5432)
    assert policy.deny_name("DB.internal.", 5432)
    assert policy.deny_address(ip_address("10.0.0.5"), 80) is None


def test_g10_an_own_port_is_allowed_when_host_and_port_are_named() -> None:
    policy = EgressPolicy.from_texts(
        ["127.0.0.1:8080", "db.internal:5432"], [("127.0.0.1", 8080), ("db.internal", 5432)]
    )
    assert policy.deny_address(ip_address("127.0.0.1"), 8080) is None
    assert policy.deny_name("db.internal", 5432) is None


@pytest.mark.parametrize("where", [("127.0.0.1", 80), ("169.254.169.254", 80), ("::1", 80, 0, 0), ("nonsense", 80)])
def test_the_socket_factory_refuses_a_denied_address_by_itself(where: tuple[object, ...]) -> None:
    with pytest.raises(EgressDenied):
        EgressGuard(EgressPolicy()).open_socket((2, 1, 6, "", where))


def test_g15_nothing_but_public_addresses_is_allowed_by_default() -> None:
    policy = EgressPolicy()
    for address in ["127.0.0.1", "10.0.0.1", "::1", *METADATA]:
        assert policy.deny_address(ip_address(address), 80)
