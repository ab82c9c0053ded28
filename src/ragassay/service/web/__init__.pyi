from .page_routes import add_pages as add_pages
