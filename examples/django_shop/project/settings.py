"""SQLite by default; SHOP_DATABASE=postgresql://user@host:5432/shop puts the shop and Detent into one PostgreSQL."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

BASE_DIR = Path(os.environ.get("SHOP_FOLDER", Path(__file__).resolve().parent.parent))
SECRET_KEY = os.environ.get("SHOP_SECRET_KEY", "only for this example")
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
ROOT_URLCONF = "project.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = ["shop", "detent.contrib.django"]


def _database(url):
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(BASE_DIR / "shop.sqlite3"),
            # A transaction locks the file when it begins, so it never fails in the middle for a lock.
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
        }
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path[1:],
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname,
        "PORT": parts.port,
    }


DATABASES = {"default": _database(os.environ.get("SHOP_DATABASE"))}

#: `manage.py migrate` creates Detent's tables too. Orders are the heroes of the runs.
DETENT = {"HEROES": ["shop.Order"], "MIGRATE": True}
